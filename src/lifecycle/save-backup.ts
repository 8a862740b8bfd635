import { createHash } from 'node:crypto'
import type { CommandContext } from '../cli/command.ts'
import type { Downloaded } from '../cli/files/transfer.ts'
import type { Globals } from '../cli/globals.ts'
import type { Session } from '../cli/session.ts'
import { PRIVATE_FILE_MODE } from '../client/files.ts'
import { writeWhole } from '../client/whole-file.ts'
import { AppError } from '../core/error.ts'
import { byteSize } from '../text/text.ts'

/** Long timeout, since a large store is copied before its first byte is sent. */
const COPY_TIMEOUT_MS = 30 * 60_000
/** A tar ends with two blocks of zeros. */
const END_BYTES = 1_024

type Chunks = AsyncIterable<string | Uint8Array>

/** Requests a backup with the admin key. @throws AppError for a refusal */
export async function askBackup(session: Session, { timeoutMs }: Pick<Globals, 'timeoutMs'>): Promise<Chunks> {
  return (await session.open('getBackup', { timeoutMs: timeoutMs ?? COPY_TIMEOUT_MS })).file()
}

/** Writes a backup to stdout, or to a private file that appears only when it is complete. */
export async function saveBackup(
  { io }: Pick<CommandContext<unknown, unknown>, 'io'>,
  chunks: Chunks,
  file: string | null,
) {
  const what = `backing up to ${file === null ? 'stdout' : io.path(file)}`
  using progress = io.progress(what)
  const watch = (bytes: number) => progress.update(`${what}   ${byteSize(bytes)}`)
  if (file === null) {
    const sink = (chunk: Uint8Array) => {
      io.bytes(chunk)
      return io.flush() // no faster than it is read
    }
    return { file, ...(await written(chunks, { watch, sink })) }
  }
  const save = (sink: Writing['sink']) => written(chunks, { watch, sink })
  return { file, ...(await writeWhole(file, save, PRIVATE_FILE_MODE)) }
}

type Writing = { readonly sink: (chunk: Uint8Array) => Promise<void>; readonly watch: (bytes: number) => void }

async function written(chunks: Chunks, { sink, watch }: Writing): Promise<Omit<Downloaded, 'file'>> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  let end = Buffer.alloc(0)
  for await (const some of chunks) {
    const chunk = typeof some === 'string' ? Buffer.from(some) : some
    hash.update(chunk)
    await sink(chunk)
    sizeBytes += chunk.byteLength
    end = Buffer.concat([end, chunk.subarray(-END_BYTES)]).subarray(-END_BYTES)
    watch(sizeBytes)
  }
  if (end.byteLength < END_BYTES || end.some((byte) => byte !== 0)) {
    throw new AppError('internal', `The backup is incomplete after ${sizeBytes} bytes: run the command again.`)
  }
  return { size_bytes: sizeBytes, sha256: hash.digest('hex') }
}
