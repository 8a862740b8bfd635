import { type Disk, type DiskFile, writeFully } from '../disk.ts'
import type { EncodedChange } from '../engine/engine.ts'
import { StoreStopped } from '../errors.ts'
import { createMutex } from '../mutex.ts'
import type { Change } from '../port.ts'
import { type Manifest, segmentFile, writeManifest } from './files.ts'
import { frame } from './frame.ts'

/** Maximum bytes that are written and synced together. */
export const MAX_BATCH_BYTES = 1024 * 1024

/** `full`: fdatasync before a transaction resolves. `os`: a power failure may lose the newest transactions. */
export type Durability = 'full' | 'os'

type Queued = {
  readonly change: Change
  readonly line: string
  readonly resolve: () => void
  readonly reject: (error: StoreStopped) => void
}

/** The newest segment of the journal, with a queue of entries. Batches are written and synced one at a time. */
export type Journal = {
  append(entry: EncodedChange): Promise<void>
  durable(): Promise<void>
  hasQueued(): boolean
  /** Number of transactions in the last sync. */
  lastBatch(): number
  /** Writes and syncs the next batch; lowdb's `write` calls it. */
  flush(): Promise<void>
  /**
   * Ends the segment at the flushed position.
   * @param list - adds the new segment to the manifest before its first write
   * @returns first transaction of the new segment
   */
  switchSegment(list: (firstSeq: number) => Promise<void>): Promise<number>
  failure(): StoreStopped | undefined
  /** Stops the journal permanently. Pending transactions are not acknowledged. */
  fail(error: unknown): void
  /** Total size of the segments since the current snapshot, in bytes. */
  bytes(): number
  /** Number of batches written since opening. */
  syncs(): number
  /** Restarts the byte count after a snapshot. */
  restartCount(): void
  close(): Promise<void>
}

export type JournalOptions = {
  readonly disk: Disk
  readonly dir: string
  readonly durability: Durability
  /** Segment to continue. */
  readonly firstSeq: number
  readonly lastSeq: number
  readonly activeBytes: number
  readonly journalBytes: number
  readonly deliver: (change: Change) => void
  /** Asks the owner to call `flush` until the queue is empty. */
  readonly onQueued: () => void
  readonly onFailed: (error: StoreStopped) => void
}

/** Takes the entries of the next batch; at least one if any wait. */
function takeBatch(queue: Queued[]): Queued[] {
  let size = 0
  const end = queue.findIndex(({ line }, at) => {
    size += line.length
    return at > 0 && size > MAX_BATCH_BYTES
  })
  return queue.splice(0, end < 0 ? queue.length : end)
}

/** Opens the newest segment. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const queue: Queued[] = []
  const io = createMutex()
  const segment = await openSegment(options)
  let { journalBytes, lastSeq, lastBatch, syncs } = { ...options, lastBatch: 0, syncs: 0 }
  let latest: Promise<void> = Promise.resolve()
  let failure: StoreStopped | undefined

  function fail(error: unknown): void {
    if (failure !== undefined) return
    failure = new StoreStopped('the store has stopped: a write to the disk failed', { cause: error })
    options.onFailed(failure)
    for (const entry of queue.splice(0)) entry.reject(failure)
  }

  function append({ change, json }: EncodedChange): Promise<void> {
    if (failure !== undefined) throw failure
    latest = new Promise((resolve, reject) => queue.push({ change, line: frame(json), resolve, reject }))
    options.onQueued()
    return latest
  }

  async function flushBatch(): Promise<void> {
    const batch = takeBatch(queue)
    if (batch.length === 0) return
    try {
      const bytes = await segment.append(Buffer.from(batch.map(({ line }) => line).join('')))
      journalBytes += bytes
      lastSeq = batch.at(-1)?.change.seq ?? lastSeq
      lastBatch = batch.length
      syncs += 1
    } catch (error) {
      // No retry: after a failed sync the kernel may have dropped data.
      fail(error)
      for (const entry of batch) entry.reject(failure as StoreStopped)
      return
    }
    acknowledge(batch, options.deliver)
  }

  return {
    append,
    durable: () => (failure === undefined ? latest : Promise.reject(failure)),
    lastBatch: () => lastBatch,
    hasQueued: () => queue.length > 0,
    flush: () => io.run(flushBatch),
    switchSegment: (list) =>
      io.run(() => (failure === undefined ? segment.next(lastSeq + 1, list) : Promise.reject(failure))),
    failure: () => failure,
    fail,
    bytes: () => journalBytes,
    syncs: () => syncs,
    restartCount: () => {
      journalBytes = segment.bytes()
    },
    close: () => io.run(() => segment.close(failure === undefined)),
  }
}

type SegmentOptions = Pick<JournalOptions, 'disk' | 'dir' | 'durability' | 'firstSeq' | 'activeBytes'>

/** The growing segment. */
async function openSegment({ disk, dir, durability, ...active }: SegmentOptions) {
  let file = await disk.open(`${dir}/${segmentFile(active.firstSeq)}`, 'extend')
  let { firstSeq, activeBytes } = active
  return {
    bytes: () => activeBytes,
    /** @returns the number of bytes written. */
    async append(bytes: Buffer): Promise<number> {
      await writeFully(file, bytes, activeBytes)
      if (durability === 'full') await file.datasync()
      activeBytes += bytes.byteLength
      return bytes.byteLength
    },
    /** Starts a new segment, unless the present one is empty. @returns the first transaction of the segment in use */
    async next(seq: number, list: (firstSeq: number) => Promise<void>): Promise<number> {
      if (activeBytes === 0) return firstSeq
      const fresh = await freshSegment(disk, dir, seq)
      // With durability `os`, the old segment may not be on disk yet. Sync it before the manifest lists a new one.
      await file.datasync()
      await list(seq)
      const old = file
      ;[file, firstSeq, activeBytes] = [fresh, seq, 0]
      await old.close()
      return seq
    },
    close: (isSound: boolean) => closeFile(file, isSound),
  }
}

function acknowledge(batch: readonly Queued[], deliver: JournalOptions['deliver']): void {
  for (const entry of batch) {
    deliver(entry.change)
    entry.resolve()
  }
}

async function closeFile(file: DiskFile, isSound: boolean): Promise<void> {
  if (isSound) await file.datasync()
  await file.close()
}

/** Creates a durable, empty segment. Replaces the file that an earlier, interrupted attempt left. */
export async function freshSegment(disk: Disk, dir: string, firstSeq: number): Promise<DiskFile> {
  const path = `${dir}/${segmentFile(firstSeq)}`
  await disk.remove(path)
  const file = await disk.open(path, 'create')
  await file.datasync()
  await disk.syncDir(dir)
  return file
}

/** Makes a snapshot the beginning of a store: one empty segment follows it. */
export async function beginBehind(disk: Disk, dir: string, base: Omit<Manifest, 'previous' | 'segments'>) {
  const next = base.snapshot + 1
  const manifest: Manifest = { ...base, previous: null, segments: [next] }
  await (await freshSegment(disk, dir, next)).close()
  await writeManifest(disk, dir, manifest)
  return manifest
}
