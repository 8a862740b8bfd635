import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Asked } from '../../client/asked.ts'
import { wordsOf } from '../../client/call.ts'
import type { SentFile } from '../../client/upload.ts'
import { makeFolder } from '../../core/folder.ts'
import { byteSize, green } from '../../text/text.ts'
import type { CommandContext } from '../command.ts'
import { usage } from '../exit.ts'
import type { Io } from '../io.ts'
import { machineTrouble } from '../machine-trouble.ts'
import { type Session, wouldDo } from '../session.ts'

type Context = Pick<CommandContext<unknown, unknown>, 'io' | 'globals'>

/** A file to upload, which shows its progress on stderr; `done` clears the progress line. */
export function sending({ io }: Context, path: string): { readonly file: SentFile; readonly done: () => void } {
  const what = `uploading ${io.path(path)}`
  const progress = io.progress(what)
  return {
    file: { path, onBytes: (sent, total) => progress.update(`${what}   ${byteSize(sent)} of ${byteSize(total)}`) },
    done: () => progress.stop(),
  }
}

/** A download; `file` is its path, or null if it went to stdout. */
export type Downloaded = { readonly file: string | null; readonly size_bytes: number; readonly sha256: string }

export function showDownloaded({ file, size_bytes }: Downloaded, io: Io): void {
  if (file !== null) io.line(`${green('✓')} saved ${io.path(file)}   ${byteSize(size_bytes)}   SHA-256 matches`)
}

type FileEndpoint = 'downloadProduct' | 'downloadThreadFile'

export type Download<K extends FileEndpoint> = {
  readonly endpoint: K
  readonly asked: Asked<K>
  /** Path of a file or folder, or - for stdout (default: the name that the server sent). */
  readonly output: string | undefined
  readonly otherwise: string
  /** Skips the question before a file is replaced: `agreedTarget` has already asked it. */
  readonly agreed?: true
}

/** Creates a folder and tests that it is writable. Called before a payment. @throws CliError `usage` */
export function tryFolder({ globals }: Pick<Context, 'globals'>, folder: string): void {
  if (globals.dryRun) return
  try {
    makeFolder(folder)
    rmSync(mkdtempSync(join(folder, '.souk-')), { recursive: true })
  } catch (error) {
    throw usage(`The folder ${folder} is not writable.`, {
      facts: [machineTrouble(error)?.sentence ?? String(error), 'nothing was paid'],
      cause: error,
    })
  }
}

/** Tests the folder of a target path, and asks before replacing a file. @throws CliError `usage`, `cancelled` */
export async function agreedTarget(host: Context, output: string, name: string): Promise<string> {
  if (output === '-') return output
  const { io } = host
  const { localName } = await import('../../client/download.ts')
  tryFolder(host, /[/\\]$/.test(output) ? output : dirname(targetOf(output, 'name')))
  const target = targetOf(output, localName(name, 'download'))
  if (existsSync(target)) await io.confirm(`Replace ${io.path(target)}?`)
  return target
}

/**
 * Streams a file to disk and checks its hash. Asks before it replaces a file.
 * @throws AppError for a refusal or a damaged download, in which case no file is kept
 */
export async function download<K extends FileEndpoint>(
  host: Context,
  session: Session,
  wanted: Download<K>,
): Promise<Downloaded> {
  const { downloadName, receive, receiveFile } = await import('../../client/download.ts')
  const { io } = host
  const { endpoint, asked, output, otherwise } = wanted
  wouldDo(host.globals, `download ${wordsOf(endpoint, asked).path}${output === undefined ? '' : ` to ${output}`}`)
  const response = await session.open(endpoint, asked)
  if (output === '-') {
    const kept = await receive(response, async (chunk) => {
      io.bytes(chunk)
      await io.flush() // no faster than it is read
    })
    return { file: null, size_bytes: kept.sizeBytes, sha256: kept.sha256 }
  }
  const target = targetOf(output, downloadName(response, otherwise))
  if (!wanted.agreed && existsSync(target)) await io.confirm(`Replace ${io.path(target)}?`)
  using progress = io.progress(`downloading ${io.path(target)}`)
  const kept = await receiveFile(response, target, (received, total) => {
    progress.update(`downloading ${io.path(target)}   ${byteSize(received)}${total ? ` of ${byteSize(total)}` : ''}`)
  })
  return { file: target, size_bytes: kept.sizeBytes, sha256: kept.sha256 }
}

function targetOf(output: string | undefined, name: string): string {
  if (output === undefined) return name
  return statSync(output, { throwIfNoEntry: false })?.isDirectory() ? join(output, name) : output
}
