import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Disk } from '../disk.ts'
import type { Front } from '../engine/front.ts'
import type { AnyRow } from '../engine/order.ts'
import { createState, type Staged, type State } from '../engine/rows.ts'
import { shapeTable } from '../engine/tables.ts'
import { StoreDamaged, StoreMisuse } from '../errors.ts'
import { behind, textBytes } from '../level/bytes.ts'
import { claim, type LevelDb, openLevelDb, ownerOf, writeBatch } from '../level/db.ts'
import { type LevelBase, openLevel } from '../level/level.ts'
import type { Migration } from '../migrations.ts'
import type { AnyCollection } from '../port.ts'
import { ROWS_DIR, segmentFile, writeManifest } from './files.ts'
import { discarding, type Loader, type RowSink } from './load.ts'
import { moverOf } from './mover.ts'
import { loadersOf, type RecoverInput, type Recovery, recover } from './recover.ts'

/** Opens the database in a folder; tests pass a failing one. */
export type OpenDb = (dir: string, createIfMissing?: boolean) => Promise<LevelDb>

/** A data directory and what its rows are; tests replace the optional members. */
export type StoreFolder = {
  readonly dir: string
  readonly collections: readonly AnyCollection[]
  readonly disk?: Disk
  readonly openDb?: OpenDb
  readonly migrations?: readonly Migration[]
}

export type Behind = { readonly front: Front; readonly level: LevelBase }

export function isBehind(kept: State | Behind): kept is Behind {
  return 'level' in kept
}

type RowsOf = {
  readonly dir: string
  readonly store: string
  readonly collections: readonly AnyCollection[]
  readonly openDb?: OpenDb | undefined
  /** Whether the files are real ones, which a thread can read. */
  readonly isReal?: boolean
}

/** Number of rows between rests. */
const ROWS_AT_ONCE = 4_096
/** Rough size of a row, not measured. */
const ROW_BYTES = 1_024

/** Opens the rows of a store. @throws StoreDamaged if they are missing or belong to another store */
export async function openRows({ openDb = openLevelDb, ...job }: RowsOf): Promise<LevelBase> {
  return claimed(await openDb(`${job.dir}/${ROWS_DIR}`, false), job)
}

async function claimed(db: LevelDb, { dir, store, collections, isReal }: RowsOf): Promise<LevelBase> {
  try {
    const path = `${dir}/${ROWS_DIR}`
    if (ownerOf(db) !== store) throw new StoreDamaged(path, 0, 'it does not have the rows of this store')
    const shapes = collections.map((collection) => shapeTable(collection))
    const move = isReal ? moverOf(path, collections) : undefined
    return await openLevel(db, { dir: path, shapes, move })
  } catch (error) {
    await db.close()
    throw error
  }
}

type FilesOf = Omit<RowsOf, 'store'> &
  Pick<RecoverInput, 'disk' | 'manifest'> & {
    readonly migrations: readonly Migration[]
    /** Called with the number of bytes read. */
    readonly saw?: ((bytes: number) => void) | undefined
  }

/**
 * Copies a closed store's rows to LevelDB and compares them. A copy that was cut short goes on where it ended, if the
 * files are the same. The old files stay valid until the manifest changes.
 */
export async function moveToLevel(job: FilesOf) {
  const { disk, dir, manifest, collections, saw, openDb = openLevelDb } = job
  const path = `${dir}/${ROWS_DIR}`
  const db = await openDb(path, true)
  try {
    const name = await unfinishedName(job)
    if (ownerOf(db) !== name) {
      await db.clear()
      await claim(db, name)
    }
    const level = await openLevel(db, { dir: path, shapes: collections.map((collection) => shapeTable(collection)) })
    const { recovery, sum } = await copyRows({ ...job, waiting: db }, level)
    const copied = rowSum()
    for await (const [collection, json] of level.walk()) {
      copied.add(collection, json)
      saw?.(recovery.snapshotBytes / level.records())
    }
    if (copied.text() !== sum) {
      await db.clear()
      throw new StoreMisuse(`the rows that were copied to ${path} differ from those of the store: start again`)
    }
    await level.write({ staged: [], reflects: recovery.seq }, () => undefined)
    await claim(db, manifest.store)
    const moved = { ...manifest, rows: recovery.seq === 0 ? ('level' as const) : ('moved' as const) }
    await writeManifest(disk, dir, moved)
    return { manifest: moved, recovery }
  } finally {
    await db.close()
  }
}

const UNFINISHED = 'unfinished '

/** Owner of an unfinished copy: names the files that it was made from. */
async function unfinishedName({ disk, dir, manifest }: FilesOf): Promise<string> {
  const last = await disk.stat(`${dir}/${segmentFile(manifest.segments.at(-1) ?? 0)}`)
  return `${UNFINISHED}${JSON.stringify(manifest)} ${last?.sizeBytes}`
}

async function copyRows(job: RowStream, level: LevelBase) {
  const sum = rowSum()
  let known = level.records()
  let staged: Staged[] = []
  const recovery = await streamRows({
    ...job,
    visit(collection, key, row) {
      sum.add(collection, level.tables.get(collection)?.shape.codec.toJson(row))
      if (known > 0) known -= 1
      else staged.push({ write: { collection, key, row }, before: undefined })
    },
    async rest() {
      const batch = staged
      staged = []
      if (batch.length > 0) await level.write({ staged: batch, reflects: 0 }, () => undefined)
    },
  })
  return { recovery, sum: sum.text() }
}

const HASH_BYTES = 8
const HASH_BITS = 64

/** Number of rows and a checksum of all of them by collection, in any order. */
function rowSum() {
  const sums = new Map<string, { rows: number; hash: bigint }>()
  return {
    add(collection: string, json: unknown): void {
      const sum = sums.get(collection) ?? { rows: 0, hash: 0n }
      const hash = createHash('sha256').update(JSON.stringify(json)).digest().subarray(0, HASH_BYTES)
      sum.hash = BigInt.asUintN(HASH_BITS, sum.hash + hash.readBigUInt64BE())
      sum.rows += 1
      sums.set(collection, sum)
    },
    text: () =>
      [...sums]
        .map(([name, { rows, hash }]) => `${name} ${rows} ${hash}`)
        .sort()
        .join(),
  }
}

type Newer = Parameters<RowSink['put']>
/** Rows of so many bytes of a journal are kept in memory, where others can wait in a database. */
const JOURNAL_BYTES = 4 * 1024 * 1024
const WAITING = 'j'
const ALL_WAITING = { gte: Buffer.from(WAITING), lt: behind(Buffer.from(WAITING)) }

/** Rows as a journal leaves them, null for removed ones. Many of them wait in `db`, in keys of their own. */
function journalRows(shapes: State, db: LevelDb | undefined) {
  let kept = new Map<string, Newer>()
  let bytes = 0
  let isSpilled = false
  const keyOf = (name: string) => textBytes(`${WAITING}${name}`)
  const codecOf = (collection: string) => shapes.get(collection)?.shape.codec

  async function spill(from = JOURNAL_BYTES): Promise<void> {
    if (db === undefined || kept.size === 0 || bytes < from) return
    const put = [...kept].map(([name, [collection, key, row]]) => {
      const json = JSON.stringify([collection, key, row && codecOf(collection)?.toJson(row)])
      return [keyOf(name), Buffer.from(json)] as const
    })
    await writeBatch(db, { removed: [], put })
    kept = new Map()
    bytes = 0
    isSpilled = true
  }

  async function* all(rest: () => Promise<void>): AsyncGenerator<Newer> {
    if (db === undefined || !isSpilled) return yield* kept.values()
    await spill(0)
    for await (const [, value] of db.iterator(ALL_WAITING)) {
      const [collection, key, json]: Newer = JSON.parse(value.toString())
      yield [collection, key, json && (codecOf(collection)?.fromJson(json) ?? null)]
      bytes += value.length
      if (bytes >= JOURNAL_BYTES) await rest()
      bytes %= JOURNAL_BYTES
    }
    await db.clear(ALL_WAITING)
  }

  return {
    put: (...one: Newer) => void kept.set(`${one[0]} ${one[1]}`, one),
    has: (name: string): boolean => kept.has(name) || (isSpilled && db?.getSync(keyOf(name)) !== undefined),
    saw: (more: number) => {
      bytes += more
    },
    spill,
    all,
  }
}

type RowStream = FilesOf & {
  /** If absent, the files are only checked. */
  readonly visit?: (collection: string, key: string, row: AnyRow) => void
  /** Awaited between parts of the rows. */
  readonly rest?: () => Promise<void>
  /** Database in which rows of a long journal can wait (default: they stay in memory). */
  readonly waiting?: LevelDb
}

/** Visits each row of a closed store once. Keeps only rows of the journal in memory. Changes no file. */
export async function streamRows(input: RowStream): Promise<Recovery> {
  const { dir, manifest, collections, migrations, visit, rest = () => nextTurn(), saw, waiting } = input
  const shapes = createState(collections)
  const newer = journalRows(shapes, waiting)
  const onBytes = (bytes: number) => {
    newer.saw(bytes)
    saw?.(bytes)
  }
  const loadersInto = (put: RowSink['put']) => loadersOf({ dir, sink: { shapes, put }, migrations, onBytes })
  const journal = loadersInto(newer.put)
  const older = loadersInto((collection, key, row) => {
    if (row && !newer.has(`${collection} ${key}`)) visit?.(collection, key, row)
  })
  const loaderOf = (format: number): Loader => (visit ? { ...older(format), put: journal(format).put } : discarding)
  const level = manifest.rows && (await openRows({ ...input, store: manifest.store }))
  const resting = async () => {
    await newer.spill()
    await rest()
  }
  try {
    const reflects = level ? { reflects: level.reflects() } : {}
    const recovery = await recover({ ...input, loaderOf, rest: resting, ...reflects })
    const loader = loaderOf(manifest.format)
    for await (const [collection, json] of level?.walk() ?? []) {
      loader.putWhole(collection, json)
      loader.saw?.(ROW_BYTES)
    }
    let visited = 0
    for await (const [collection, key, row] of newer.all(rest)) {
      if (row) visit?.(collection, key, row)
      visited += 1
      if (visited % ROWS_AT_ONCE === 0) await rest()
    }
    await rest()
    return recovery
  } finally {
    await level?.close()
  }
}

/** Reads the undamaged rows from LevelDB and counts the lost ones. @returns undefined if LevelDB does not open */
export async function salvageRows({ loader, ...job }: RowsOf & { readonly loader: Loader }) {
  let lost = 0
  // The caller reports that the rows cannot be read.
  const level = await openRows(job).catch(() => undefined)
  if (level === undefined) return undefined
  const count = (): void => {
    lost += 1
  }
  try {
    for await (const [collection, json] of level.walk(count)) loader.putWhole(collection, json)
  } catch {
    count() // LevelDB itself cannot go on; how many rows lie behind, nobody knows
  } finally {
    await level.close()
  }
  return { reflects: level.reflects(), lost }
}

/** Id of the store whose rows a folder has; needed if the manifest is lost. */
export async function ownerOfRows(dir: string, openDb: OpenDb = openLevelDb): Promise<string | undefined> {
  // Opening fails if the store has no LevelDB.
  const db = await openDb(`${dir}/${ROWS_DIR}`, false).catch(() => undefined)
  const owner = db && ownerOf(db)
  await db?.close()
  return owner?.startsWith(UNFINISHED) ? undefined : owner
}
