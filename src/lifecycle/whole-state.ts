import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CommandContext } from '../cli/command.ts'
import { CliError } from '../cli/exit.ts'
import { findDaemon, isLive } from '../client/discover.ts'
import { PRIVATE_FILE_MODE } from '../client/files.ts'
import { LOCAL, readSettings } from '../client/settings.ts'
import { writeWhole } from '../client/whole-file.ts'
import { AppError } from '../core/error.ts'
import { makeFolder } from '../core/folder.ts'
import type { Json } from '../core/json.ts'
import { hasStore } from './restore.ts'
import { askBackup, saveBackup } from './save-backup.ts'

type Context = CommandContext<unknown, unknown>
type Door = Awaited<ReturnType<Context['system']['daemon']>>
type ExportQuery = Parameters<Door['exportData']>[1]

export const STDOUT = '-'
/** Maximum number of backups that are taken to get one without a payment in progress. */
const TRIES = 20
const BETWEEN_TRIES_MS = 500

export type SavedState = Awaited<ReturnType<typeof exportWhole>>

type Row = { readonly [member: string]: Json }

/** A line of an export (docs/reference/storage-format.md): start, row, file part, or end. */
export type WrittenLine =
  | {
      readonly souk: 'state'
      readonly format: number
      readonly store_format: number
      readonly made_at: string
      readonly rows: number
      readonly files: number
      readonly installation: { readonly asset: string | null; readonly pay_to: string | null; readonly settings: Row }
    }
  | { readonly in: string /** name of the list that the row belongs to */; readonly row: Row }
  | { readonly file: string; readonly size: number; readonly at: number; readonly data: string }
  | {
      readonly end: 'state'
      readonly counts: { readonly [list: string]: number }
      readonly files: number
      readonly sha256: string
      readonly header_sha256: string
    }

/** Exports the marketplace to a file or stdout, whether the daemon runs or not. */
export async function exportWhole(context: Context, file: string) {
  const { io } = context
  using progress = io.progress('reading the export')
  let lines = 0
  const watch = (text: string) => {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
    progress.update(`exporting   ${lines} lines`)
  }
  const write = sinkOf(context, file, watch)
  const { rows, ...saved } = await write((sink) => stateOf(context, { lines: sink }))
  return { file: file === STDOUT ? null : file, records: rows, ...saved }
}

type Exported = Awaited<ReturnType<Door['exportData']>>
type Write = (run: (sink: ExportQuery['lines']) => Promise<Exported>) => Promise<Exported>

function sinkOf({ io }: Context, file: string, watch: (text: string) => void): Write {
  if (file !== STDOUT) {
    const whole: Write = (run) =>
      writeWhole(
        file,
        (append) =>
          run(async (text) => {
            watch(text)
            await append(text)
          }),
        PRIVATE_FILE_MODE,
      )
    return whole
  }
  return (run) =>
    run(async (text) => {
      watch(text)
      io.bytes(Buffer.from(text))
      await io.flush() // no faster than it is read
    })
}

async function stateOf(context: Context, wanted: ExportQuery): Promise<Exported> {
  const { places, system } = context
  const door = await system.daemon()
  const isLocal = (context.globals.baseUrl ?? context.globals.remote ?? readSettings(places).remote ?? LOCAL) === LOCAL
  if (!isLocal || isLive(await findDaemon(places))) return ofRunning(context, door, wanted)
  if (!hasStore(context)) throw new CliError('not_found', 'There is no data yet.', { next: ['souk up'] })
  return door.exportData(places.data, wanted)
}

/** Exports from a backup, since a backup is consistent. If the backup has a payment in progress, takes another. */
async function ofRunning(context: Context, door: Door, wanted: ExportQuery): Promise<Exported> {
  const folder = await mkdtemp(join(makeFolder(context.places.state), 'export-'))
  try {
    for (let tried = 1; ; tried += 1) {
      const tarFile = join(folder, `${tried}.tar`)
      await saveBackup(context, await askBackup(await context.session(), context.globals), tarFile)
      try {
        return await door.exportData(context.places.data, { ...wanted, tarFile })
      } catch (error) {
        const isHalfway = error instanceof AppError && error.code === 'unavailable'
        if (!isHalfway || tried === TRIES) throw error
        await rm(tarFile)
        await context.system.sleep(BETWEEN_TRIES_MS, context.signal)
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Verifies an export, then creates the local store from it. @param keep - whether the new store uses the installation
 * values from the file; if so, earlier signatures stay valid
 */
export async function importWhole(context: Context, file: string, keep: boolean) {
  const { io, places, system } = context
  const replaced = hasStore(context)
  using progress = io.progress('reading the export')
  const watch = (rows: number) => progress.update(`importing   ${rows} records`)
  const chunks = file === STDOUT ? bytesOf(context) : createReadStream(file)
  const { records, files, sha256 } = await (await system.daemon()).importData(places.data, { chunks, keep, watch })
  return { data_dir: places.data, records, files, sha256, replaced, kept_installation: keep }
}

async function* bytesOf({ system }: Context): AsyncGenerator<Uint8Array> {
  for await (const chunk of system.stdin) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
