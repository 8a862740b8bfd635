import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Asked, wordsOf } from '../../client/call.ts'
import type { SentFile } from '../../client/upload.ts'
import { makeFolder } from '../../core/folder.ts'
import { byteSize } from '../../text/text.ts'
import type { CommandContext } from '../command.ts'
import { usage } from '../exit.ts'
import { machineTrouble } from '../machine-trouble.ts'
import { type Session, wouldDo } from '../session.ts'

type Host = Pick<CommandContext<unknown, unknown>, 'io' | 'globals'>

/** A file to send, with its progress on stderr; `done` takes that away. */
export function sending({ io }: Host, path: string): { readonly file: SentFile; readonly done: () => void } {
  const what = `uploading ${io.path(path)}`
  const progress = io.progress(what)
  return {
    file: {
      path,
      onBytes: (sent, total) => progress.update(`${what}   ${byteSize(sent)} of ${byteSize(total)}`),
    },
    done: () => progress.stop(),
  }
}

/** What was downloaded, and where to; `file` is null where it went to stdout. */
export type Downloaded = { readonly file: string | null; readonly size_bytes: number; readonly sha256: string }

/** Endpoints that answer with a file. */
type FileEndpoint = 'downloadProduct' | 'downloadThreadFile'

export type Download<K extends FileEndpoint> = {
  readonly endpoint: K
  readonly asked: Asked<K>
  /** A file, a folder, or - for stdout; without it the name that the sender gives, here. */
  readonly output: string | undefined
  /** Name of a file that has none. */
  readonly otherwise: string
  /** `agreedTarget` was asked for `output`. */
  readonly agreed?: true
}

/**
 * Makes a folder and writes into it, before something is paid for that will lie there.
 * @throws CliError usage where that fails
 */
export function tryFolder({ globals }: Pick<Host, 'globals'>, folder: string): void {
  if (globals.dryRun) return
  try {
    makeFolder(folder)
    rmSync(mkdtempSync(join(folder, '.souk-')), { recursive: true })
  } catch (error) {
    throw usage(`Nothing can be written to ${folder}.`, {
      facts: [machineTrouble(error)?.sentence ?? String(error), 'nothing was paid'],
      cause: error,
    })
  }
}

/**
 * Where a file of a known name will go, before anything is done for it; its folder is made and tried.
 * @throws CliError when it may not be replaced, or when nothing can be written there
 */
export async function agreedTarget(host: Host, output: string, name: string): Promise<string> {
  if (output === '-') return output
  const { io } = host
  const { localName } = await import('../../client/download.ts')
  tryFolder(host, /[/\\]$/.test(output) ? output : dirname(targetOf(output, 'name')))
  const target = targetOf(output, localName(name, 'download'))
  if (existsSync(target)) await io.confirm(`Replace ${io.path(target)}?`)
  return target
}

/**
 * Streams a file of the instance to the disk and checks its hash. A file that is there is only replaced after a yes.
 * @throws AppError for what the instance refuses, and for a download that is damaged: then nothing is kept.
 */
export async function download<K extends FileEndpoint>(
  host: Host,
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
  const progress = io.progress(`downloading ${io.path(target)}`)
  try {
    const kept = await receiveFile(response, target, (received, total) => {
      progress.update(`downloading ${io.path(target)}   ${byteSize(received)}${total ? ` of ${byteSize(total)}` : ''}`)
    })
    return { file: target, size_bytes: kept.sizeBytes, sha256: kept.sha256 }
  } finally {
    progress.stop()
  }
}

function targetOf(output: string | undefined, name: string): string {
  if (output === undefined) return name
  return statSync(output, { throwIfNoEntry: false })?.isDirectory() ? join(output, name) : output
}
