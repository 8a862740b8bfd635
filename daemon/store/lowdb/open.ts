import { randomUUID } from 'node:crypto'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { compact } from '../../../src/core/record.ts'
import { type BlobStore, openBlobs } from '../blobs.ts'
import { type Disk, realDisk } from '../disk.ts'
import { type ChangeSink, createEngine, type StoreEngine } from '../engine/engine.ts'
import { createState, memoryBase, type State } from '../engine/rows.ts'
import { encodeChange } from '../engine/tables.ts'
import type { StoreStopped } from '../errors.ts'
import { migrations as allMigrations, type Migration } from '../migrations.ts'
import type { AnyCollection, Change, Store } from '../port.ts'
import { type BackupReport, backUp } from './backup.ts'
import { BLOB_DIR, type Manifest } from './files.ts'
import { loadOrCreate } from './first.ts'
import { type Durability, type Journal, openJournal } from './journal.ts'
import { takeLock } from './lock.ts'
import { COMPACT_ABOVE_BYTES, createMaintenance, type Maintenance } from './maintenance.ts'
import type { Recovery } from './recover.ts'
import { DEFAULT_RESERVE_BYTES, type Space, watchSpace, whileRoom } from './space.ts'

export type LowdbStoreOptions = {
  readonly dir: string
  readonly collections: readonly AnyCollection[]
  /** Wall time for transactions, epoch milliseconds. */
  readonly now: () => number
  /** Called once when a write or sync failed and the process must end. */
  readonly onFatal: (error: StoreStopped) => void
  /** Default `full`. */
  readonly durability?: Durability
  readonly disk?: Disk
  readonly migrations?: readonly Migration[]
  readonly newStoreId?: () => string
  readonly compactAboveBytes?: number
  readonly reserveBytes?: number
  readonly watchdogMs?: number
  /** Called with the read percentage; a throw ends opening. */
  readonly onLoaded?: (percent: number) => void
  /** Freezes returned rows; for tests. */
  readonly freeze?: boolean
}

/** The embedded engine with its file operations. */
export type LowdbStore = Store & {
  readonly storeId: string
  /** Result of opening; `torn` names an unfinished write that was cut. */
  readonly recovery: Recovery
  readonly blobs: BlobStore
  /** Whether the disk is too full for writes. */
  isFull(): Promise<boolean>
  /** Compacts now; also happens automatically. */
  compact(): Promise<void>
  /** The same if the disk has room. */
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

type Opened = { readonly manifest: Manifest; readonly recovery: Recovery }
type OpenOptions = LowdbStoreOptions & { readonly disk: Disk }

/** lowdb adapter over the journal: `read` recovers, `write` makes a batch durable. */
function journalAdapter(load: () => Promise<State>, flush: () => Promise<void>): Adapter<State> {
  return { read: load, write: flush }
}

async function openLocked(options: OpenOptions, release: () => void): Promise<LowdbStore> {
  const { dir, disk, migrations = allMigrations, newStoreId = randomUUID } = options
  const state = createState(options.collections)
  let opened: Opened | undefined
  let journal: Journal | undefined
  const adapter = journalAdapter(
    async () => {
      opened = await loadOrCreate({ disk, dir, state, migrations, newStoreId, onLoaded: options.onLoaded })
      return state
    },
    async () => journal?.flush(),
  )
  const low = new Low<State>(adapter, new Map())
  await low.read()
  const { manifest, recovery } = opened as unknown as Opened // set by the read above, which control flow cannot see
  const blobs = await openBlobs({ dir: `${dir}/${BLOB_DIR}`, disk })
  const space = watchSpace({ disk, dir, reserveBytes: options.reserveBytes ?? DEFAULT_RESERVE_BYTES })
  await space.look()
  const feed: { deliver: (change: Change) => void } = { deliver: () => undefined }
  journal = await openJournal({
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
  const stop = async (isSound: boolean): Promise<void> => {
    await maintenance.stop()
    if (isSound) await maintenance.recordStop()
  }
  const engine = runEngine({ options, state, recovery, journal, space, feed, release, stop })
  const maintenance = createMaintenance({
    disk,
    dir,
    state,
    journal,
    space,
    manifest,
    snapshotBytes: recovery.snapshotBytes,
    lastSeq: () => engine.stats().seq,
    compactAboveBytes: options.compactAboveBytes ?? COMPACT_ABOVE_BYTES,
  })
  return {
    ...engine,
    storeId: manifest.store,
    recovery,
    isFull: space.look,
    blobs: besideBackups(blobs, space, maintenance),
    compact: maintenance.compact,
    shrink: maintenance.shrink,
    backup: (target) => maintenance.whileHeld((held) => backUp({ disk, dir, target, manifest: held })),
  }
}

/** Protects listed blobs from removal during a backup. */
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
  readonly state: State
  readonly recovery: Recovery
  readonly journal: Journal
  readonly space: Space
  readonly feed: { deliver: (change: Change) => void }
  readonly stop: (isSound: boolean) => Promise<void>
  readonly release: () => void
}

function runEngine(parts: EngineParts): StoreEngine {
  const { options, state, recovery, journal, space, feed } = parts
  return createEngine({
    base: memoryBase(state),
    seq: recovery.seq,
    freeze: options.freeze ?? false,
    ...compact({ watchdogMs: options.watchdogMs }),
    openSink: (deliver) => {
      feed.deliver = deliver
      return journalSink(parts, {
        encode: (change) => encodeChange(state, change, options.now()),
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

type Pump = { readonly low: Low<State>; readonly journal: () => Journal | undefined; readonly onFlushed: () => void }

/** Calls lowdb's `write` until the queue is empty; concurrent entries share the next one. */
function pump({ low, journal, onFlushed }: Pump): () => void {
  let isRunning = false
  async function run(): Promise<void> {
    isRunning = true
    while (journal()?.hasQueued() === true) {
      // With several writers, wait for this turn's commits to share a sync: 0.31 per paid request instead of 0.53. A
      // single writer would only wait.
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
