import { isDeepStrictEqual } from 'node:util'
import type { DeepBase, DeepBatch } from '../engine/front.ts'
import type { AnyRow, IndexPlace } from '../engine/order.ts'
import type { Slice, Staged, TableReads } from '../engine/rows.ts'
import { inOrder, type RowIndex, type TableShape } from '../engine/tables.ts'
import { StoreDamaged } from '../errors.ts'
import type { Scalar } from '../port.ts'
import { behind, bytesOf, latin, textOf } from './bytes.ts'
import { type Batch, inTurns, type LevelDb, type Moment, writeBatch } from './db.ts'
import { type EntryKeys, type Keys, keysOf, type NumberOf, type Parts, valueCodec } from './keys.ts'

/** Number of index entries per asynchronous read. */
const ENTRIES_AT_ONCE = 1_024
/** Number of rows per asynchronous read. */
const ROWS_AT_ONCE = 128
/** Number of rows encoded, with all their index entries, before writers may run. */
const ENCODED_AT_ONCE = 96
/** Smaller batches are encoded here, because a thread costs more. */
const MOVED_FROM = 2_000
const NUMBER_BYTES = 2

const REFLECTS = Buffer.from('reflects')
const RECORDS = Buffer.from('records')
const NAMES = Buffer.from('names')
/** All keys of rows and entries lie between these. */
const FIRST_KEY = Buffer.from('a')
const LAST_KEY = Buffer.from('z')

/** Source of reads: the database or, during a batch write, a snapshot from before that write. */
type View = {
  readonly db: LevelDb
  /** Folder to name in error messages. */
  readonly dir: string
  frozen: Moment | undefined
  readonly readers: Set<Promise<unknown>>
}

/** Runs several reads on one snapshot. */
function during<T>({ db, frozen, readers }: View, read: (snapshot: Moment) => Promise<T>): Promise<T> {
  if (frozen === undefined) {
    const own = db.snapshot()
    return read(own).finally(() => own.close())
  }
  const reading = read(frozen).finally(() => readers.delete(reading))
  readers.add(reading)
  return reading
}

export type LevelBase = DeepBase & {
  /** Number of the last transaction that is completely stored; 0 if empty. */
  reflects(): number
  /** The JSON of all rows of one snapshot, ordered by collection and key, each checked. @param onDamaged (default: throws) */
  walk(onDamaged?: OnDamaged): AsyncGenerator<readonly [collection: string, json: unknown]>
  /** Rough size on the disk, without the last writes. */
  sizeBytes(): number
  close(): Promise<void>
}

type LevelOptions = {
  /** Folder to name in error messages. */
  readonly dir: string
  readonly shapes: readonly TableShape[]
  readonly move?: Mover | undefined
}

type OnDamaged = (error: StoreDamaged) => void
const refuse: OnDamaged = (error) => {
  throw error
}

/** A batch whose changes are in journal files. */
export type FileBatch = Pick<DeepBatch, 'reflects'> & {
  readonly segments: readonly string[]
  /** Which of the changed rows existed before. */
  readonly existing: readonly (readonly [collection: string, key: string])[]
}

/** Stores a batch. @returns the number of rows in all tables afterwards */
export type Mover = (batch: FileBatch) => Promise<number>

/**
 * Rows of a store in an open database. Builds the entries of indexes that are new, or declared differently than before.
 * @param move - writes batches whose changes are in journal files (default: this thread encodes and writes them)
 */
export async function openLevel(db: LevelDb, { dir, shapes, move }: LevelOptions): Promise<LevelBase> {
  let records = numberAt(db, RECORDS)
  let reflects = numberAt(db, REFLECTS)
  const { names, numberOf, unbuilt } = declared(db, shapes)
  const view: View = { db, dir, frozen: undefined, readers: new Set() }
  const tables = new Map(shapes.map((shape) => [shape.collection.name, levelTable(view, { shape, numberOf })]))
  for (const name of unbuilt) await tables.get(name)?.build()
  if (names !== undefined) await writeBatch(db, { removed: [], put: [[NAMES, names]] })
  const measure = () => db.approximateSize(FIRST_KEY, LAST_KEY)
  let sizeBytes = await measure()

  async function write(batch: DeepBatch, taken: () => void): Promise<void> {
    const { staged, segments, reflects: upTo } = batch
    const left = staged.reduce((sum, one) => sum + grownBy(one), records)
    const frozen = db.snapshot()
    view.frozen = frozen
    try {
      const isMoved = move && segments && staged.length >= MOVED_FROM
      const written = await (isMoved ? move(inFiles(batch, segments)) : put(db, tables, { ...batch, left }))
      if (written !== left) throw new StoreDamaged(dir, 0, `it has ${written} rows instead of ${left}`)
      records = left
      reflects = upTo
      for (const [name, { single, totals }] of tables) {
        single.clear()
        totals.change(name, staged)
      }
      taken()
    } finally {
      view.frozen = undefined
      await Promise.allSettled(view.readers)
      await frozen.close()
    }
    sizeBytes = await measure()
  }

  async function* walk(onDamaged = refuse): AsyncGenerator<readonly [string, unknown]> {
    const snapshot = db.snapshot()
    try {
      for (const [name, table] of inOrder(tables))
        for await (const row of table.walk(onDamaged, { snapshot })) yield [name, row]
    } finally {
      await snapshot.close()
    }
  }

  return {
    tables,
    write,
    walk,
    records: () => records,
    reflects: () => reflects,
    sizeBytes: () => sizeBytes,
    close: () => db.close(),
  }
}

type Changing = ReadonlyMap<string, { readonly change: Change }>

/** Encodes a batch and writes it, with the number of rows that it leaves. */
async function put(db: LevelDb, tables: Changing, { staged, reflects, left }: DeepBatch & { readonly left: number }) {
  const batch: Batch = { removed: [], put: [] }
  await inTurns(staged, ENCODED_AT_ONCE, (one) => tables.get(one.write.collection)?.change(batch, one))
  batch.put.push([REFLECTS, numberBytes(reflects)], [RECORDS, numberBytes(left)])
  await writeBatch(db, batch)
  return left
}

function inFiles({ staged, reflects }: DeepBatch, segments: readonly string[]): FileBatch {
  const replaced = staged.filter(({ before }) => before !== undefined)
  return { segments, reflects, existing: replaced.map(({ write }) => [write.collection, write.key]) }
}

function grownBy({ write: { row }, before }: Staged): number {
  return Number(row !== null) - Number(before !== undefined)
}

function numberAt(db: LevelDb, key: Buffer): number {
  return Number(db.getSync(key)?.toString() ?? 0)
}

const numberBytes = (value: number): Buffer => Buffer.from(String(value))

/**
 * Numbers that stand for collections and indexes in database keys; assigned once. An index that is declared differently
 * than before gets a new number.
 * @returns the new names to store, if any, and the collections with rows that lack index entries
 */
function declared(db: LevelDb, shapes: readonly TableShape[]) {
  const known: [name: string, definition: unknown][] = JSON.parse(db.getSync(NAMES)?.toString() ?? '[]')
  const before = known.length
  const find = (name: string) => known.findLastIndex((one) => one[0] === name)
  /** @returns whether it was not declared like this before */
  const declare = (name: string, definition: unknown): boolean => {
    const isFresh = !isDeepStrictEqual(known[find(name)]?.[1], definition)
    if (isFresh) known.push([name, definition])
    return isFresh
  }
  const unbuilt = new Set<string>()
  for (const { name, key, indexes } of shapes.map(({ collection }) => collection)) {
    const isNew = declare(name, key)
    for (const { order: _walked, ...definition } of indexes)
      if (declare(`${name}/${definition.name}`, definition) && !isNew) unbuilt.add(name)
  }
  const numberOf: NumberOf = (...names) => {
    const bytes = Buffer.alloc(NUMBER_BYTES)
    bytes.writeUInt16BE(find(names.join('/')))
    return bytes
  }
  return { numberOf, unbuilt, names: known.length > before ? Buffer.from(JSON.stringify(known)) : undefined }
}

function levelTable(view: View, parts: Parts) {
  const { db, dir } = view
  const { shape } = parts
  const keys = keysOf(parts)
  const { encode, decode, jsonOf } = valueCodec(shape, dir, keys.nameOf)
  const seen = () => (view.frozen === undefined ? {} : { snapshot: view.frozen })
  const single = rowCache((name) => {
    const key = keys.row(name)
    return decode(key, db.getSync(key, seen()))
  })

  async function rowsAt(all: Buffer[], from = seen()): Promise<(AnyRow | undefined)[]> {
    const values = await db.getMany(all, from)
    return values.map((value, n) => decode(all[n] as Buffer, value))
  }

  // Reads index entries and their rows from the same snapshot.
  const page = (slice: Slice): Promise<readonly AnyRow[]> =>
    during(view, async (snapshot) => {
      const { index, isDescending: reverse, limit } = slice
      const entries = await db.keys({ ...rangeOf(keys, slice), reverse, limit, snapshot }).all()
      const found = entries.map((entry) => keys.named(index, entry))
      const rows = await rowsAt(found, { snapshot })
      return rows.map((row, n) => row ?? missing(dir, shape, entries[n] as Buffer))
    })

  const totals = countCache(({ index, prefix }) =>
    during(view, async (snapshot) => {
      const from = keys.place(index, { values: prefix })
      const entries = db.keys({ gte: from, lt: behind(from), snapshot })
      let found = 0
      for (let more: Buffer[] = [from]; more.length > 0; found += more.length)
        more = await entries.nextv(ENTRIES_AT_ONCE)
      await entries.close()
      return found
    }),
  )

  const reads: TableReads = {
    shape,
    rows: (names) => (names.length === 1 ? [single.of(names[0] as string)] : rowsAt(names.map(keys.row))),
    page,
    count: (index, prefix) => totals.of(latin(keys.place(index, { values: prefix })), { index, prefix }),
    unique(index, values) {
      const key = db.getSync(keys.unique(index, values), seen())
      return key && single.of(textOf(key))
    },
  }

  const walk = (onDamaged: OnDamaged, from: { readonly snapshot?: Moment } = {}) =>
    walkRows(db.iterator({ gte: keys.rowPrefix, lt: behind(keys.rowPrefix), ...from }), (key, value) =>
      sound(() => jsonOf(key, value), onDamaged),
    )
  const change = changes(keys, encode)
  const build = () => buildEntries(db, shape, { rows: walk(refuse), change })
  return { ...reads, change, walk, build, single, totals }
}

type Change = (batch: Batch, staged: Staged) => void

/** Writes all rows of a table again, with the entries of all indexes. */
async function buildEntries(
  db: LevelDb,
  { collection, codec }: TableShape,
  { rows, change }: { readonly rows: AsyncIterable<unknown>; readonly change: Change },
): Promise<void> {
  let batch: Batch = { removed: [], put: [] }
  for await (const json of rows) {
    const row = codec.fromJson(json as AnyRow)
    change(batch, { write: { collection: collection.name, key: String(row[collection.key]), row }, before: undefined })
    if (batch.put.length < ENTRIES_AT_ONCE) continue
    await writeBatch(db, batch)
    batch = { removed: [], put: [] }
  }
  await writeBatch(db, batch)
}

/** Adds a row's changes to a batch; unchanged index entries are skipped. */
function changes({ entries, row: rowKey }: Keys, encode: (row: AnyRow) => Buffer): Change {
  function move({ removed, put }: Batch, { of, value }: EntryKeys, { write: { key, row }, before }: Staged): void {
    const [old, now] = [of(key, before), of(key, (row ?? undefined) as AnyRow | undefined)]
    if (old === now) return
    if (old !== undefined) removed.push(bytesOf(old))
    if (now !== undefined) put.push([bytesOf(now), value(key)])
  }
  return (batch, staged) => {
    const { key, row } = staged.write
    for (const entry of entries) move(batch, entry, staged)
    if (row === null) batch.removed.push(rowKey(key))
    else batch.put.push([rowKey(key), encode(row as AnyRow)])
  }
}

async function* walkRows(
  rows: ReturnType<LevelDb['iterator']>,
  read: (key: Buffer, value: Buffer) => unknown,
): AsyncGenerator<unknown> {
  try {
    for (let more = await rows.nextv(ROWS_AT_ONCE); more.length > 0; more = await rows.nextv(ROWS_AT_ONCE))
      yield* more.flatMap(([key, value]) => read(key, value) ?? [])
  } finally {
    await rows.close()
  }
}

function sound<T>(read: () => T, onDamaged: OnDamaged): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    onDamaged(error)
    return undefined
  }
}

function missing(dir: string, { collection }: TableShape, entry: Buffer): never {
  throw new StoreDamaged(
    dir,
    0,
    `the index entry ${entry.toString('hex')} of ${collection.name} refers to a missing row`,
  )
}

/** Key range of a slice, ascending. */
function rangeOf(keys: Keys, { index, prefix, isDescending, after, until }: Slice) {
  const whole = keys.place(index, { values: prefix })
  const at = (place: IndexPlace): Buffer => keys.place(index, place)
  /** First key after all entries that match a place. */
  const past = (place: IndexPlace): Buffer =>
    place.key === undefined ? behind(at(place)) : Buffer.concat([at(place), Buffer.alloc(1)])
  if (isDescending) return { gte: until ? at(until) : whole, lt: after ? at(after) : behind(whole) }
  return { gte: after ? past(after) : whole, lt: until ? past(until) : behind(whole) }
}

/** Number of decoded rows that a table keeps in memory, such as those of accounts and services in use. */
const ROWS_CACHED = 500
const COUNTS_CACHED = 64

/** Keeps rows that were read. Reads one row synchronously, because it is often kept or known to be absent. */
function rowCache(read: (name: string) => AnyRow | undefined) {
  const cached = new Map<string, AnyRow>()
  return {
    of(name: string): AnyRow | undefined {
      const row = cached.get(name) ?? read(name)
      if (cached.size >= ROWS_CACHED) cached.clear()
      if (row !== undefined) cached.set(name, row)
      return row
    },
    clear: () => cached.clear(),
  }
}

type Count = { readonly index: RowIndex; readonly prefix: readonly Scalar[] }

/** Keeps the totals that were asked for. Each batch changes them, so the entries are read once. */
function countCache(read: (count: Count) => Promise<number>) {
  const cached = new Map<string, Count & { rows: number }>()
  let batches = 0
  const isIn = ({ index, prefix }: Count, row: AnyRow | null | undefined): number =>
    Number(row != null && index.holds(row) && index.compareToPlace(row, { values: prefix }) === 0)
  return {
    async of(name: string, count: Count): Promise<number> {
      const known = cached.get(name)
      if (known !== undefined) return known.rows
      const begun = batches
      const rows = await read(count)
      if (cached.size >= COUNTS_CACHED) cached.clear()
      if (begun === batches) cached.set(name, { ...count, rows })
      return rows
    },
    /** Counts a batch's changes of the collection. */
    change(collection: string, staged: readonly Staged[]): void {
      batches += 1
      if (cached.size === 0) return
      const own = staged.filter(({ write }) => write.collection === collection)
      for (const count of cached.values())
        for (const { write, before } of own) count.rows += isIn(count, write.row as AnyRow | null) - isIn(count, before)
    },
  }
}
