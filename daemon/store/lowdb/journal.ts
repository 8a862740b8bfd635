import { type Disk, type DiskFile, writeFully } from '../disk.ts'
import type { EncodedChange } from '../engine/engine.ts'
import { StoreStopped } from '../errors.ts'
import { createMutex } from '../mutex.ts'
import type { Change } from '../port.ts'
import { segmentFile } from './files.ts'
import { frame } from './frame.ts'

/** Most bytes that one write and one sync carry. */
export const MAX_BATCH_BYTES = 1024 * 1024

/** `full`: fdatasync before a transaction resolves. `os`: left to the operating system, lost with its power. */
export type Durability = 'full' | 'os'

type Queued = {
  readonly change: Change
  readonly line: string
  readonly resolve: () => void
  readonly reject: (error: StoreStopped) => void
}

/** The growing end of the journal: a queue in memory, one write and one sync in flight. */
export type Journal = {
  append(entry: EncodedChange): Promise<void>
  durable(): Promise<void>
  hasQueued(): boolean
  /** Transactions that the last sync carried. */
  lastBatch(): number
  /** Writes and syncs the next batch; the write of the lowdb adapter. */
  flush(): Promise<void>
  /**
   * Ends the current segment: everything flushed so far is behind the border, everything later beyond it.
   * @param list - makes the new segment known before anything is written to it.
   * @returns the first transaction of the segment that grows now.
   */
  switchSegment(list: (firstSeq: number) => Promise<void>): Promise<number>
  failure(): StoreStopped | undefined
  /** Stops everything for good: nothing pending is ever acknowledged. */
  fail(error: unknown): void
  /** Bytes of all segments since the snapshot in force. */
  bytes(): number
  /** Batches written since it was opened. */
  syncs(): number
  /** Counts again from the segment that grows, once a snapshot covers the older ones. */
  restartCount(): void
  close(): Promise<void>
}

export type JournalOptions = {
  readonly disk: Disk
  readonly dir: string
  readonly durability: Durability
  /** The segment to go on with. */
  readonly firstSeq: number
  readonly lastSeq: number
  readonly activeBytes: number
  readonly journalBytes: number
  readonly deliver: (change: Change) => void
  /** Asks the owner to call `flush` until the queue is empty. */
  readonly onQueued: () => void
  readonly onFailed: (error: StoreStopped) => void
}

function createQueue() {
  let items: Queued[] = []
  return {
    isEmpty: () => items.length === 0,
    push(item: Queued): void {
      items.push(item)
    },
    /** The entries of the next batch, in order; at least one when there is any. */
    take(): Queued[] {
      let size = 0
      let count = 0
      for (const item of items) {
        if (count > 0 && size + item.line.length > MAX_BATCH_BYTES) break
        size += item.line.length
        count += 1
      }
      const batch = items.slice(0, count)
      items = items.slice(count)
      return batch
    },
    takeAll(): Queued[] {
      const all = items
      items = []
      return all
    },
  }
}

/** Opens the segment that grows. */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const queue = createQueue()
  const io = createMutex()
  const segment = await openSegment(options)
  let { journalBytes, lastSeq, lastBatch, syncs } = { ...options, lastBatch: 0, syncs: 0 }
  let latest: Promise<void> = Promise.resolve()
  let failure: StoreStopped | undefined

  function fail(error: unknown): void {
    if (failure !== undefined) return
    failure = new StoreStopped('the store has stopped: a write to the disk failed', { cause: error })
    options.onFailed(failure)
    for (const entry of queue.takeAll()) entry.reject(failure)
  }

  function append({ change, json }: EncodedChange): Promise<void> {
    if (failure !== undefined) throw failure
    latest = new Promise((resolve, reject) => queue.push({ change, line: frame(json), resolve, reject }))
    options.onQueued()
    return latest
  }

  async function flushBatch(): Promise<void> {
    const batch = queue.take()
    if (batch.length === 0) return
    try {
      const bytes = await segment.append(Buffer.from(batch.map(({ line }) => line).join('')))
      journalBytes += bytes
      lastSeq = batch.at(-1)?.change.seq ?? lastSeq
      lastBatch = batch.length
      syncs += 1
    } catch (error) {
      // Never tried again: after a failed sync the kernel may have dropped what it could not write.
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
    hasQueued: () => !queue.isEmpty(),
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

/** The segment that grows; the next one takes its place. */
async function openSegment({ disk, dir, durability, ...active }: SegmentOptions) {
  let file = await disk.open(`${dir}/${segmentFile(active.firstSeq)}`, 'extend')
  let { firstSeq, activeBytes } = active
  return {
    bytes: () => activeBytes,
    /** @returns how many bytes that were. */
    async append(bytes: Buffer): Promise<number> {
      await writeFully(file, bytes, activeBytes)
      if (durability === 'full') await file.datasync()
      activeBytes += bytes.byteLength
      return bytes.byteLength
    },
    /** @returns the number of its first transaction: `seq`, unless it is still empty. */
    async next(seq: number, list: (firstSeq: number) => Promise<void>): Promise<number> {
      if (activeBytes === 0) return firstSeq
      const fresh = await freshSegment(disk, dir, seq)
      // Under durability `os` the older segment may still be in memory; the border must not outlive it.
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

/** A new segment, empty and durable; one left over from a switch that did not finish is taken. */
export async function freshSegment(disk: Disk, dir: string, firstSeq: number): Promise<DiskFile> {
  const path = `${dir}/${segmentFile(firstSeq)}`
  await disk.remove(path)
  const file = await disk.open(path, 'create')
  await file.datasync()
  await disk.syncDir(dir)
  return file
}
