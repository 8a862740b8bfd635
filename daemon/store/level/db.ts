import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClassicLevel } from 'classic-level'
import { errnoOf } from '../../../src/core/error.ts'
import { LevelMissing, StoreDamaged, StoreLocked } from '../errors.ts'

/** Number of entries passed to LevelDB before yielding to the event loop. */
const HANDED_AT_ONCE = 1_024
const STORE = Buffer.from('store')

/** A snapshot of LevelDB. */
export type Moment = { close(): Promise<void> }
type From = { readonly snapshot?: Moment }
type Range = { readonly gte: Buffer; readonly lt: Buffer; readonly reverse?: boolean; readonly limit?: number }
type Walk<T> = {
  /** The next items, at most `size`; empty at the end. */
  nextv(size: number): Promise<T[]>
  close(): Promise<void>
}
/** The part of the package `classic-level` that is used, with buffers as keys and values. */
export type LevelDb = {
  getSync(key: Buffer, from?: From): Buffer | undefined
  getMany(keys: Buffer[], from?: From): Promise<(Buffer | undefined)[]>
  keys(range: Range & From): Walk<Buffer> & { all(): Promise<Buffer[]> }
  iterator(range: Range & From): Walk<[Buffer, Buffer]> & AsyncIterable<[Buffer, Buffer]>
  /** Collects changes for one atomic write. */
  batch(): {
    put(key: Buffer, value: Buffer): unknown
    del(key: Buffer): unknown
    write(options: { readonly sync: true }): Promise<void>
    close(): Promise<void>
  }
  snapshot(): Moment
  /** Size of the files that hold a range of keys. */
  approximateSize(from: Buffer, to: Buffer): Promise<number>
  /** Removes all entries, or those in a range. */
  clear(range?: Range): Promise<void>
  close(): Promise<void>
}

export type Batch = { readonly removed: Buffer[]; readonly put: (readonly [Buffer, Buffer])[] }

/** The write buffer limits LevelDB's own log, which is replayed after a kill. */
const LEVEL_OPTIONS = {
  keyEncoding: 'buffer',
  valueEncoding: 'buffer',
  writeBufferSize: 4 * 1024 * 1024,
  cacheSize: 8 * 1024 * 1024,
  // A thread moves rows into it.
  multithreading: true,
} as const

/**
 * Opens the database in a folder; the caller closes it. The native package is loaded on demand.
 * @throws StoreLocked, StoreDamaged, LevelMissing
 */
export async function openLevelDb(dir: string, createIfMissing = true): Promise<ClassicLevel<Buffer, Buffer>> {
  const { ClassicLevel } = await loadLevel()
  const db = new ClassicLevel<Buffer, Buffer>(dir, { ...LEVEL_OPTIONS, createIfMissing })
  try {
    await db.open()
    return db
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    if (errnoOf(cause) === 'LEVEL_LOCKED') throw new StoreLocked(dir)
    if (cause instanceof Error) throw new StoreDamaged(dir, 0, cause.message)
    throw error
  }
}

async function loadLevel() {
  try {
    // In the bundle, this package has only a default export.
    return (await import('classic-level')).default
  } catch (error) {
    throw new LevelMissing(error)
  }
}

/** Id of the store whose rows a database has. */
export function ownerOf(db: LevelDb): string | undefined {
  return db.getSync(STORE)?.toString()
}

/** Assigns a database to one store. */
export function claim(db: LevelDb, store: string): Promise<void> {
  return writeBatch(db, { removed: [], put: [[STORE, Buffer.from(store)]] })
}

/** Calls a function for each item, yielding to the event loop every few items. */
export async function inTurns<T>(all: readonly T[], atOnce: number, each: (one: T) => void): Promise<void> {
  for (const [n, one] of all.entries()) {
    each(one)
    if (n % atOnce === atOnce - 1) await nextTurn()
  }
}

export async function writeBatch(db: LevelDb, { removed, put }: Batch): Promise<void> {
  const batch = db.batch()
  try {
    // Delete first, because a unique value may move from one row to another.
    await inTurns(removed, HANDED_AT_ONCE, (key) => batch.del(key))
    await inTurns(put, HANDED_AT_ONCE, ([key, value]) => batch.put(key, value))
    // Without sync, a power failure may lose one LevelDB log but keep a newer one.
    await batch.write({ sync: true })
  } finally {
    await batch.close()
  }
}
