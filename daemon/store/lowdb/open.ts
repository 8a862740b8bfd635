import { randomUUID } from 'node:crypto'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { compact } from '../../../src/core/record.ts'
import { type BlobStore, openBlobs } from '../blobs.ts'
import { type Disk, realDisk } from '../disk.ts'
import { type ChangeSink, createEngine, type StoreEngine } from '../engine/engine.ts'
import { type Base, memoryBase } from '../engine/rows.ts'
import { encodeChange, inOrder } from '../engine/tables.ts'
import type { StoreStopped } from '../errors.ts'
import { migrations as allMigrations } from '../migrations.ts'
import type { Change, Store, StoreStats } from '../port.ts'
import { type BackupReport, backUp } from './backup.ts'
import { isBehind, type StoreFolder } from './behind.ts'
import { BLOB_DIR } from './files.ts'
import { type LoadedStore, loadOrCreate } from './first.ts'
import { type Durability, type Journal, openJournal } from './journal.ts'
import { takeLock } from './lock.ts'
import { COMPACT_ABOVE_BYTES, createMaintenance, type Maintenance } from './maintenance.ts'
import type { Recovery } from './recover.ts'
import { DEFAULT_RESERVE_BYTES, type Space, watchSpace, whileRoom } from './space.ts'

export type LowdbStoreOptions = StoreFolder & {
  /** Wall time for transactions, epoch milliseconds. */
  readonly now: () => number
  /** Called once when a write or sync failed and the process must end. */
  readonly onFatal: (error: StoreStopped) => void
  /** Default `full`. */
  readonly durability?: Durability
  readonly newStoreId?: () => string
  readonly compactAboveBytes?: number
  readonly reserveBytes?: number
  /**
   * Size of snapshot and journal from which rows move to LevelDB, in bytes: 0 for all stores, Infinity moves them back to memory
   * (default: they stay where they are).
   */
  readonly levelFrom?: number
  readonly watchdogMs?: number
  /** Called with the percentage read so far. If it throws, opening fails. */
  readonly onLoaded?: (percent: number) => void
  readonly freeze?: boolean
}

/** A row in JSON form; see `RowCodec`. */
export type StoredRow = readonly [collection: string, json: unknown]

/** The embedded engine with its file operations. */
export type LowdbStore = Store & {
  readonly storeId: string
  /** Result of opening; `torn` describes a torn tail that was removed. */
  readonly recovery: Recovery
  /** Why rows stayed in memory, in one sentence. */
  readonly note?: string
  readonly blobs: BlobStore
  /** All rows, ordered by collection and key (UTF-16), while nobody writes. Those on disk are read one after the other. */
  rows(): AsyncGenerator<StoredRow>
  /** Whether the disk is too full for writes. */
  isFull(): Promise<boolean>
  /** Compacts the store now. This also happens automatically. */
  compact(): Promise<void>
  /** Compacts if the disk has room. */
  shrink(): Promise<void>
  /** Copies the running store to an empty directory. */
  backup(target: string): Promise<BackupReport>
}

/**
 * Opens a data directory exclusively (docs/reference/storage-format.md).
 * @throws StoreLocked, StoreDamaged, StoreFormatUnknown
 */
export async function openLowdbStore(options: LowdbStoreOptions): Promise<LowdbStore> {
  const disk = options.disk ?? realDisk
  await disk.makeDir(options.dir)
  const lock = takeLock(options.dir)
  try {
    return await openLocked({ ...options, disk }, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

type OpenOptions = LowdbStoreOptions & { readonly disk: Disk }

/** The adapter that lowdb calls: `read` recovers the rows, `write` makes the next batch durable. */
function journalAdapter(load: () => Promise<Base>, flush: () => Promise<void>): Adapter<Base> {
  return { read: load, write: flush }
}

async function openLocked(options: OpenOptions, release: () => void): Promise<LowdbStore> {
  const { dir, disk, migrations = allMigrations, newStoreId = randomUUID } = options
  const { collections, onLoaded, openDb, levelFrom } = options
  const parts: { loaded?: LoadedStore; journal?: Journal } = {}
  const adapter = journalAdapter(
    async () => {
      parts.loaded = await loadOrCreate({ disk, dir, collections, levelFrom, openDb, migrations, newStoreId, onLoaded })
      return parts.loaded.base
    },
    async () => parts.journal?.flush(),
  )
  const low = new Low<Base>(adapter, memoryBase(new Map()))
  await low.read()
  const loaded = parts.loaded as LoadedStore // set by the read above
  try {
    return await openLoaded(options, { low, loaded, release, keep: (journal) => Object.assign(parts, { journal }) })
  } catch (error) {
    await closeRows(loaded)
    throw error
  }
}

async function closeRows({ kept }: LoadedStore): Promise<void> {
  if (isBehind(kept)) await kept.level.close()
}

type Loading = {
  readonly low: Low<Base>
  readonly loaded: LoadedStore
  readonly release: () => void
  /** Receives the journal that the adapter writes. */
  readonly keep: (journal: Journal) => void
}

async function openLoaded(options: OpenOptions, { low, loaded, release, keep }: Loading): Promise<LowdbStore> {
  const { dir, disk } = options
  const { manifest, recovery, base, kept, note } = loaded
  const level = isBehind(kept) ? kept.level : undefined
  const blobs = await openBlobs({ dir: `${dir}/${BLOB_DIR}`, disk })
  const space = watchSpace({ disk, dir, reserveBytes: options.reserveBytes ?? DEFAULT_RESERVE_BYTES })
  await space.look()
  const feed: { deliver: (change: Change) => void } = { deliver: () => undefined }
  const journal: Journal = await openJournal({
    disk,
    dir,
    durability: options.durability ?? 'full',
    firstSeq: manifest.segments.at(-1) as number,
    lastSeq: recovery.seq,
    activeBytes: recovery.activeBytes,
    journalBytes: recovery.journalBytes,
    deliver: (change) => feed.deliver(change),
    onQueued: pump({ low, journal: () => journal, onFlushed: () => maintenance.consider() }),
    onFailed: options.onFatal,
  })
  keep(journal)
  const stop = async (isSound: boolean): Promise<void> => {
    try {
      await maintenance.stop()
      if (isSound) await maintenance.recordStop()
    } finally {
      await closeRows(loaded)
    }
  }
  const engine = runEngine({ options, base, recovery, journal, space, feed, release, stop })
  const files = { disk, dir, kept, journal, space, manifest }
  const maintenance = createMaintenance({
    ...files,
    snapshotBytes: level ? 0 : recovery.snapshotBytes,
    lastSeq: () => engine.stats().seq,
    compactAboveBytes: options.compactAboveBytes ?? COMPACT_ABOVE_BYTES,
  })
  return {
    ...engine,
    async tx(body) {
      const room = maintenance.room()
      if (room !== undefined) await room
      return engine.tx(body)
    },
    stats: () => ({ ...engine.stats(), ...compact({ disk: diskStats(kept) }) }),
    storeId: manifest.store,
    recovery,
    ...compact({ note }),
    isFull: space.look,
    blobs: besideBackups(blobs, space, maintenance),
    rows: () => orderedRows(kept, maintenance.compact),
    compact: maintenance.compact,
    shrink: maintenance.shrink,
    backup: (target) =>
      maintenance.whileHeld((held) => backUp({ disk, dir, target, manifest: held, ...compact({ level }) })),
  }
}

async function* orderedRows(kept: LoadedStore['kept'], compact: () => Promise<void>): AsyncGenerator<StoredRow> {
  if (isBehind(kept)) {
    // What waits in memory goes to LevelDB first.
    await compact()
    return yield* kept.level.walk()
  }
  for (const [name, { shape, rows }] of inOrder(kept))
    for (const [, row] of inOrder(rows)) yield [name, shape.codec.toJson(row)]
}

function diskStats(kept: LoadedStore['kept']): StoreStats['disk'] {
  if (!isBehind(kept)) return undefined
  const { level, front } = kept
  return { sizeBytes: level.sizeBytes(), reflects: level.reflects(), waiting: front.waiting() }
}

/** A blob store that removes no blobs during a backup, and stores blobs only while the disk has room. */
function besideBackups(blobs: BlobStore, space: Space, { alone }: Maintenance): BlobStore {
  return {
    ...blobs,
    put: (source, limitBytes) => blobs.put(whileRoom(space, source), limitBytes),
    remove: (sha256) => alone(() => blobs.remove(sha256)),
    sweep: (rule) => alone(() => blobs.sweep(rule)),
  }
}

type EngineParts = {
  readonly options: OpenOptions
  readonly base: Base
  readonly recovery: Recovery
  readonly journal: Journal
  readonly space: Space
  readonly feed: { deliver: (change: Change) => void }
  readonly stop: (isSound: boolean) => Promise<void>
  readonly release: () => void
}

function runEngine(parts: EngineParts): StoreEngine {
  const { options, base, recovery, journal, space, feed } = parts
  return createEngine({
    base,
    seq: recovery.seq,
    freeze: options.freeze ?? false,
    ...compact({ watchdogMs: options.watchdogMs }),
    openSink: (deliver) => {
      feed.deliver = deliver
      return journalSink(parts, {
        encode: (change) => encodeChange(base.tables, change, options.now()),
        append(entry) {
          space.assertRoom(entry.json.length)
          return journal.append(entry)
        },
      })
    },
  })
}

function journalSink(parts: EngineParts, writing: Pick<ChangeSink, 'encode' | 'append'>): ChangeSink {
  const { journal, stop, release } = parts
  return {
    ...writing,
    durable: journal.durable,
    failure: journal.failure,
    journalBytes: journal.bytes,
    syncs: journal.syncs,
    async close() {
      try {
        if (journal.failure() === undefined) await journal.durable()
        await stop(journal.failure() === undefined)
        await journal.close()
      } finally {
        release()
      }
    },
  }
}

type Pump = { readonly low: Low<Base>; readonly journal: () => Journal | undefined; readonly onFlushed: () => void }

/** Calls lowdb's `write` until the queue is empty. Entries queued during a write share the next write. */
function pump({ low, journal, onFlushed }: Pump): () => void {
  let isRunning = false
  async function run(): Promise<void> {
    isRunning = true
    while (journal()?.hasQueued() === true) {
      // If the last sync served several writers, wait until the end of this turn. More commits then share a sync: 0.31
      // syncs per paid request instead of 0.53. A single writer would gain nothing.
      if ((journal()?.lastBatch() ?? 0) > 1) await endOfTurn()
      await low.write()
      onFlushed()
    }
    isRunning = false
  }
  return () => {
    if (!isRunning) run().catch((error: unknown) => journal()?.fail(error))
  }
}
