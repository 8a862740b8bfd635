import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { type Disk, type DiskFile, writeFully } from '../disk.ts'
import type { RowSet, State } from '../engine/rows.ts'
import { StoreDamaged } from '../errors.ts'
import type { LevelBase } from '../level/level.ts'
import { snapshotFile } from './files.ts'
import { frame, type RawLine, scanLines, unframe } from './frame.ts'
import type { Loader } from './load.ts'

/** Number of records per slice; writers run in between. */
const SLICE_RECORDS = 64
/** Pause after a slice, so that other work can run. */
export const SLICE_REST_MS = 2
/** Bytes between syncs: one large sync at the end would delay the journal's syncs. */
const SYNC_EVERY_BYTES = 2 * 1024 * 1024

const HEX = 16
const CRC_CHARS = 8

type Header = { readonly format: number; readonly seq: number; readonly counts: Readonly<Record<string, number>> }
/** `through`: last transaction that the snapshot may contain; replay must reach it. */
type Footer = { readonly count: number; readonly crc: string; readonly through: number }

export type SnapshotJob = {
  readonly disk: Disk
  readonly dir: string
  readonly state: State
  readonly format: number
  /** Last transaction before the first replayed segment. */
  readonly seq: number
  /** Waits until `state` is durable. @returns the number of its last transaction (default: `seq`) */
  readonly settled?: () => Promise<number>
  /** Pause after each slice (default: 0, if no other work waits). */
  readonly restMs?: number
  /** Whether to stop without a snapshot. */
  readonly isCancelled?: () => boolean
}

/** Writes the lines of a snapshot: a header, records with a running checksum, and a footer. */
export async function snapshotLines(
  file: DiskFile,
  { format, seq, counts = {} }: Omit<Header, 'counts'> & Partial<Header>,
) {
  let [position, syncedTo, crc, count] = [0, 0, 0, 0]
  let slice: string[] = []

  async function write(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    await writeFully(file, bytes, position)
    position += bytes.byteLength
  }

  /** Writes the added records. */
  async function flush(): Promise<void> {
    const lines = slice
    slice = []
    for (const line of lines) crc = crc32(line.slice(0, CRC_CHARS), crc)
    count += lines.length
    await write(lines.join(''))
    if (position - syncedTo < SYNC_EVERY_BYTES) return
    await file.datasync()
    syncedTo = position
  }

  await write(frame(JSON.stringify({ format, seq, counts } satisfies Header)))
  return {
    /** Adds a record. @returns whether there are enough for `flush` */
    add(collection: string, row: unknown): boolean {
      slice.push(frame(JSON.stringify([collection, row])))
      return slice.length >= SLICE_RECORDS
    },
    flush,
    /** Makes the snapshot durable. @returns its size in bytes */
    async end(through: number): Promise<number> {
      await flush()
      await write(frame(JSON.stringify({ count, crc: crc.toString(HEX), through } satisfies Footer)))
      await file.datasync()
      return position
    },
  }
}

/**
 * Writes a fuzzy snapshot while writers go on: replay from `seq + 1` makes it consistent.
 * @returns bytes; undefined if cancelled
 */
export async function writeSnapshot(job: SnapshotJob): Promise<number | undefined> {
  const { disk, dir, state, format, seq } = job
  const name = snapshotFile(seq)
  await disk.remove(`${dir}/${name}.tmp`)
  await using file = await disk.open(`${dir}/${name}.tmp`, 'create')
  const counts = Object.fromEntries([...state].map(([collection, table]) => [collection, table.rows.size]))
  const lines = await snapshotLines(file, { format, seq, counts })
  for (const table of state.values()) if (!(await writeTable(job, table, lines))) return undefined
  const sizeBytes = await lines.end((await job.settled?.()) ?? seq)
  await disk.rename(`${dir}/${name}.tmp`, `${dir}/${name}`)
  await disk.syncDir(dir)
  return sizeBytes
}

/** Writes the rows of LevelDB as a snapshot, as of the last transaction that they reflect. */
export async function writeRows(
  { disk, dir, format, seq }: Pick<SnapshotJob, 'disk' | 'dir' | 'format' | 'seq'>,
  { walk }: LevelBase,
): Promise<void> {
  await using file = await disk.open(`${dir}/${snapshotFile(seq)}`, 'create')
  const lines = await snapshotLines(file, { format, seq })
  for await (const [name, json] of walk()) {
    if (!lines.add(name, json)) continue
    await lines.flush()
    await nextTurn()
  }
  await lines.end(seq)
}

async function writeTable(
  { restMs = 0, isCancelled }: SnapshotJob,
  { shape, rows }: RowSet,
  lines: Awaited<ReturnType<typeof snapshotLines>>,
): Promise<boolean> {
  // Rows added during this loop are in the journal and can be skipped. Counting down makes sure that the loop ends.
  let left = rows.size
  for (const row of rows.values()) {
    if (left === 0) break
    left -= 1
    if (!lines.add(shape.collection.name, shape.codec.toJson(row))) continue
    await lines.flush()
    await (restMs > 0 ? sleep(restMs) : nextTurn())
    if (isCancelled?.()) return false
  }
  return true
}

/** Loads a snapshot. @throws StoreDamaged for a bad line or footer */
export async function readSnapshot(
  disk: Disk,
  dir: string,
  want: { seq: number; loaderOf: (format: number) => Loader; rest?: (() => Promise<void>) | undefined },
) {
  const path = `${dir}/${snapshotFile(want.seq)}`
  if ((await disk.stat(path)) === undefined) throw new StoreDamaged(path, 0, 'the snapshot is missing')
  await using file = await disk.open(path, 'read')
  const reading = snapshotReader(path, want.loaderOf)
  const end = await scanLines(file, reading.visit, want)
  const footer = reading.footer(end.lastLineEnd)
  if (end.lastLineEnd !== end.sizeBytes) throw new StoreDamaged(path, end.lastLineEnd, 'bytes follow the footer')
  return { through: footer.through, records: footer.count, sizeBytes: end.sizeBytes }
}

function snapshotReader(path: string, loaderOf: (format: number) => Loader) {
  let loader: Loader | undefined
  let crc = 0
  let count = 0
  let footer: Footer | undefined

  function visit(line: RawLine): boolean {
    loader?.saw?.(line.end - line.start)
    const json = unframe(line)
    if (json === undefined) throw new StoreDamaged(path, line.offset, 'the checksum of a line is wrong')
    if (footer !== undefined) throw new StoreDamaged(path, line.offset, 'a line follows the footer')
    const value: unknown = JSON.parse(json)
    if (loader === undefined) loader = loaderOf((value as Header).format)
    else if (Array.isArray(value)) {
      crc = crc32(line.buffer.subarray(line.start, line.start + CRC_CHARS), crc)
      count += 1
      loader.putWhole(value[0] as string, value[1])
    } else footer = value as Footer
    return true
  }

  function checked(endOffset: number): Footer {
    if (footer === undefined) throw new StoreDamaged(path, endOffset, 'the snapshot has no footer')
    if (footer.count !== count || footer.crc !== crc.toString(HEX))
      throw new StoreDamaged(path, endOffset, `the footer counts ${footer.count} records, ${count} were read`)
    return footer
  }

  return { visit, footer: checked }
}

export function isHeader(value: unknown): value is Header {
  return typeof value === 'object' && value !== null && 'format' in value
}

/** Loads the good lines of a damaged snapshot. @returns the number of bad lines */
export async function salvageSnapshot(
  disk: Disk,
  dir: string,
  want: { seq: number; format: number; loaderOf: (format: number) => Loader },
): Promise<number> {
  const path = `${dir}/${snapshotFile(want.seq)}`
  if ((await disk.stat(path)) === undefined) return 0
  await using file = await disk.open(path, 'read')
  let lost = 0
  // The default until a header is read. A damaged header names no format.
  let loader = want.loaderOf(want.format)
  const end = await scanLines(file, (line) => {
    const json = unframe(line)
    const value: unknown = json === undefined ? undefined : JSON.parse(json)
    if (value === undefined) lost += 1
    else if (Array.isArray(value)) loader.putWhole(value[0] as string, value[1])
    else if (isHeader(value)) loader = want.loaderOf(value.format)
    return true
  })
  return end.lastLineEnd < end.sizeBytes ? lost + 1 : lost
}
