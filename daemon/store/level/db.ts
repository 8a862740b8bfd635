import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClassicLevel } from 'classic-level'
import { StoreDamaged, StoreLocked } from '../errors.ts'

/* An open LevelDB: what is used of it, and how batches are written beside other work. */

/** Entries that are handed over before the event loop turns. */
const HANDED_AT_ONCE = 1_024
const STORE = Buffer.from('store')

/** A snapshot of LevelDB. */
export type Moment = { close(): Promise<void> }
type From = { readonly snapshot?: Moment }
type Range = { readonly gte: Buffer; readonly lt: Buffer; readonly reverse?: boolean; readonly limit?: number }
type Walk<T> = {
  /** Empty at the end. */
  nextv(size: number): Promise<T[]>
  close(): Promise<void>
}
/** What is used of the package `classic-level`, opened with keys and values that are buffers. */
export type LevelDb = {
  getSync(key: Buffer, from?: From): Buffer | undefined
  getMany(keys: Buffer[], from?: From): Promise<(Buffer | undefined)[]>
  keys(range: Range & From): Walk<Buffer> & { all(): Promise<Buffer[]> }
  iterator(range: Range & From): Walk<[Buffer, Buffer]>
  /** Gathers what is written together. */
  batch(): {
    put(key: Buffer, value: Buffer): unknown
    del(key: Buffer): unknown
    write(options: { readonly sync: true }): Promise<void>
    close(): Promise<void>
  }
  snapshot(): Moment
  clear(): Promise<void>
  close(): Promise<void>
}

export type Batch = { readonly removed: Buffer[]; readonly put: (readonly [Buffer, Buffer])[] }

/** LevelDB replays its own log when it opens after a kill: the write buffer bounds it. */
const LEVEL_OPTIONS = {
  keyEncoding: 'buffer',
  valueEncoding: 'buffer',
  writeBufferSize: 4 * 1024 * 1024,
  cacheSize: 8 * 1024 * 1024,
} as const

/**
 * A database in a folder, closed by the caller. Its package is native, so it is loaded when it is needed.
 * @throws StoreLocked, StoreDamaged
 */
export async function openLevelDb(dir: string, createIfMissing = true): Promise<ClassicLevel<Buffer, Buffer>> {
  // By its default: in the bundle it has no other name.
  const { ClassicLevel } = (await import('classic-level')).default
  const db = new ClassicLevel<Buffer, Buffer>(dir, { ...LEVEL_OPTIONS, createIfMissing })
  try {
    await db.open()
    return db
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    if (codeOf(cause) === 'LEVEL_LOCKED') throw new StoreLocked(dir)
    if (cause instanceof Error) throw new StoreDamaged(dir, 0, cause.message)
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

/** The store whose rows a database holds. */
export function ownerOf(db: LevelDb): string | undefined {
  return db.getSync(STORE)?.toString()
}

/** Takes a database for one store alone. @throws StoreDamaged where it holds the rows of another */
export async function claimFor(db: LevelDb, dir: string, store: string): Promise<void> {
  const owner = ownerOf(db)
  if (owner === undefined) await writeBatch(db, { removed: [], put: [[STORE, Buffer.from(store)]] })
  else if (owner !== store) throw new StoreDamaged(dir, 0, 'it contains the rows of another store')
}

/** Does something for each, and leaves the event loop to others after a few of them. */
export async function inTurns<T>(all: readonly T[], atOnce: number, each: (one: T) => void): Promise<void> {
  for (const [n, one] of all.entries()) {
    each(one)
    if (n % atOnce === atOnce - 1) await nextTurn()
  }
}

/** All of a batch or nothing; where it fails, nothing is there. */
export async function writeBatch(db: LevelDb, { removed, put }: Batch): Promise<void> {
  const batch = db.batch()
  try {
    // A value of a unique index may move from one row to another: what goes, goes first.
    await inTurns(removed, HANDED_AT_ONCE, (key) => batch.del(key))
    await inTurns(put, HANDED_AT_ONCE, ([key, value]) => batch.put(key, value))
    // Without sync, a power cut may take an older log of LevelDB and leave a newer one.
    await batch.write({ sync: true })
  } finally {
    await batch.close()
  }
}
