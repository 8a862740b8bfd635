import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Disk } from '../disk.ts'
import { StoreDamaged, StoreTooLarge } from '../errors.ts'
import type { Migration } from '../migrations.ts'
import { type Manifest, numberedFiles, segmentFile, segmentsBehind } from './files.ts'
import { type RawLine, scanLines, unframe, wasWhole } from './frame.ts'
import { createLoader, type Loader, type RowSink } from './load.ts'
import { readSnapshot } from './snapshot.ts'

/** Bytes read between heap checks. */
const LOOK_EVERY_BYTES = 4 * 1024 * 1024
/** If more than this share of the heap is in use, garbage is collected and the heap measured again. */
const COLLECT_ABOVE = 0.6
/** A store that fills more than this share of the heap is refused, because the daemon needs the rest for its work. */
const REFUSE_ABOVE = 0.75
const MB = 1024 * 1024
/** Three default semi-spaces. */
const NURSERY_BYTES = 192 * MB

/** Makes a function that collects garbage, even if Node was started without `--expose-gc`. */
function openCollector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** Heap available for rows: V8's limit without the young generation. */
function oldSpaceBytes(): number {
  const { heap_size_limit } = getHeapStatistics()
  return Math.max(heap_size_limit - NURSERY_BYTES, heap_size_limit / 4)
}

/** Checks the heap while reading a store, so that an oversized one gives an error instead of a crash. */
function heapGuard(dir: string): (bytes: number) => void {
  let unlookedBytes = 0
  let collect: (() => void) | undefined

  const limitBytes = oldSpaceBytes()
  const usedShare = (): number => getHeapStatistics().used_heap_size / limitBytes

  return (bytes) => {
    unlookedBytes += bytes
    if (unlookedBytes < LOOK_EVERY_BYTES) return
    unlookedBytes = 0
    if (usedShare() < COLLECT_ABOVE) return
    collect ??= openCollector()
    collect()
    if (usedShare() > REFUSE_ABOVE) throw new StoreTooLarge(dir, Math.round(limitBytes / MB))
  }
}

/** The unreadable end of the newest segment, usually from a write that was neither finished nor acknowledged. */
export type TornTail = { readonly file: string; readonly offset: number; readonly droppedBytes: number }

/** Durable transactions that were lost; there may be more than counted. */
export type Loss = {
  readonly transactions: number
  /** Complete lines with a bad checksum. */
  readonly damagedLines: number
}

export type Recovery = Awaited<ReturnType<typeof recover>>

export type RecoverInput = {
  readonly disk: Disk
  readonly dir: string
  readonly manifest: Manifest
  readonly loaderOf: (format: number) => Loader
  /** Last transaction that the rows include (default: the snapshot's). */
  readonly reflects?: number | undefined
  /** Reads the snapshot after the journal. Awaited after each part of them. */
  readonly rest?: (() => Promise<void>) | undefined
}

type SegmentEnd = Awaited<ReturnType<typeof replaySegment>>

/** Makes loaders that throw StoreTooLarge if the rows exceed the memory limit. */
export function loadersOf(parts: {
  dir: string
  sink: RowSink
  migrations: readonly Migration[]
  onBytes?: (bytes: number) => void
}): RecoverInput['loaderOf'] {
  const guard = heapGuard(parts.dir)
  const saw = (bytes: number) => {
    guard(bytes)
    parts.onBytes?.(bytes)
  }
  return (format) => ({ ...createLoader(parts.sink, parts.migrations.slice(format - 1)), saw })
}

/**
 * Loads the snapshot and replays the journal. It changes no file: the caller removes a torn tail.
 * @throws StoreDamaged with file and offset, unless only the torn tail is unreadable
 */
export async function recover(input: RecoverInput) {
  const { disk, dir, manifest, loaderOf, rest } = input
  const loader = loaderOf(manifest.format)
  const start = input.reflects ?? manifest.snapshot
  const older = async () =>
    input.reflects === undefined && start > 0
      ? await readSnapshot(disk, dir, { seq: start, loaderOf, rest })
      : { through: start, records: 0, sizeBytes: 0 }
  const read = rest === undefined ? await older() : undefined
  await refuseStrays(disk, dir, manifest)
  const segments = segmentsBehind(manifest.segments, start)
  const last = segments.at(-1)
  let nextSeq = Math.min(start + 1, segments[0] ?? Number.POSITIVE_INFINITY)
  let journalBytes = 0
  let end: SegmentEnd | undefined
  for (const firstSeq of segments) {
    const path = `${dir}/${segmentFile(firstSeq)}`
    if (firstSeq !== nextSeq) throw new StoreDamaged(path, 0, `transactions ${nextSeq} to ${firstSeq - 1} are missing`)
    end = await replaySegment({ disk, path, nextSeq, start, loader, rest, isLast: firstSeq === last })
    nextSeq = end.nextSeq
    journalBytes += end.sizeBytes
  }
  if (end === undefined) throw new StoreDamaged(`${dir}/MANIFEST.json`, 0, 'no segment follows the snapshot')
  const facts = read ?? (await older())
  if (nextSeq <= facts.through) {
    const path = `${dir}/${segmentFile(last ?? 0)}`
    throw new StoreDamaged(
      path,
      end.sizeBytes,
      `transactions up to ${facts.through} were durable, but ${nextSeq - 1} is the last one found`,
    )
  }
  return {
    /** Last transaction in the state. */
    seq: nextSeq - 1,
    loss: lossOf(end.damagedLines, (manifest.stopped ?? 0) - (nextSeq - 1)),
    snapshotRecords: facts.records,
    snapshotBytes: facts.sizeBytes,
    replayed: nextSeq - 1 - start,
    /** Size of the replayed segments in bytes, without the torn tail. */
    journalBytes,
    /** Size of the newest segment in bytes, without the torn tail. */
    activeBytes: end.sizeBytes,
    torn: end.torn,
  }
}

function lossOf(damagedLines: number, behind: number): Loss | undefined {
  const transactions = Math.max(damagedLines, behind)
  return transactions > 0 ? { transactions, damagedLines } : undefined
}

/** Refuses a non-empty segment after the manifest's last one, because its transactions would be lost silently. */
async function refuseStrays(disk: Disk, dir: string, manifest: Manifest): Promise<void> {
  const newest = manifest.segments.at(-1) ?? 0
  for (const firstSeq of (await numberedFiles(disk, dir)).segments) {
    const path = `${dir}/${segmentFile(firstSeq)}`
    if (firstSeq <= newest || ((await disk.stat(path))?.sizeBytes ?? 0) === 0) continue
    throw new StoreDamaged(path, 0, 'the manifest does not list this segment')
  }
}

type SegmentInput = Pick<RecoverInput, 'disk' | 'rest'> & {
  readonly path: string
  readonly nextSeq: number
  /** Transactions up to this one are already in the rows. */
  readonly start: number
  readonly loader: Loader
  readonly isLast: boolean
}

async function replaySegment(input: SegmentInput) {
  const { disk, path, isLast } = input
  if ((await disk.stat(path)) === undefined) throw new StoreDamaged(path, 0, 'the segment is missing')
  await using file = await disk.open(path, 'read')
  const replay = segmentReplay(input)
  const end = await scanLines(file, replay.visit, input)
  const goodEnd = replay.badOffset() ?? end.lastLineEnd
  const { nextSeq, damagedLines } = replay.found()
  if (goodEnd === end.sizeBytes) return { nextSeq, damagedLines, sizeBytes: goodEnd, torn: undefined }
  if (end.isOverlong) throw new StoreDamaged(path, goodEnd, 'a line is not terminated')
  if (!isLast) throw new StoreDamaged(path, goodEnd, 'an older segment ends inside a transaction')
  const torn: TornTail = { file: path, offset: goodEnd, droppedBytes: end.sizeBytes - goodEnd }
  return { nextSeq, damagedLines, sizeBytes: goodEnd, torn }
}

function segmentReplay({ path, loader, start, nextSeq: firstSeq }: SegmentInput) {
  let nextSeq = firstSeq
  let badOffset: number | undefined
  let damagedLines = 0

  function visit(line: RawLine): boolean {
    loader.saw?.(line.end - line.start)
    const json = unframe(line)
    if (json === undefined) {
      badOffset ??= line.offset
      if (wasWhole(line)) damagedLines += 1
      return true
    }
    if (badOffset !== undefined)
      throw new StoreDamaged(path, badOffset, 'the checksum of a line is wrong, and complete lines follow it')
    apply(JSON.parse(json) as StoredTx, line)
    return true
  }

  function apply({ s, w }: StoredTx, line: RawLine): void {
    if (s !== nextSeq) throw new StoreDamaged(path, line.offset, `expected transaction ${nextSeq}, found ${s}`)
    if (s > start) for (const [collection, key, row] of w) loader.put(collection, key, row)
    nextSeq += 1
  }

  return { visit, found: () => ({ nextSeq, damagedLines }), badOffset: () => badOffset }
}

/** JSON of a journal line (docs/reference/storage-format.md): transaction number, wall time, writes. */
export type StoredTx = {
  readonly s: number
  readonly t: number
  readonly w: readonly (readonly [collection: string, key: string, row: unknown])[]
}
