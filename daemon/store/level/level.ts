import { crc32 } from 'node:zlib'
import { compact } from '../../../src/core/record.ts'
import type { Slice, Staged, TableReads } from '../engine/base.ts'
import type { DeepBase, DeepBatch } from '../engine/front.ts'
import { type AnyRow, type IndexPlace, indexedValue } from '../engine/order.ts'
import { type RowIndex, shapeTable, type TableShape, uniqueValues } from '../engine/tables.ts'
import { StoreDamaged, StoreFormatUnknown } from '../errors.ts'
import type { AnyCollection, Scalar } from '../port.ts'
import { behind, encodeScalar, endOfScalar, textBytes, textOf } from './bytes.ts'
import { type Batch, inTurns, type LevelDb, type Moment, writeBatch } from './db.ts'

/** Number of index entries per asynchronous read. */
const ENTRIES_AT_ONCE = 1_024
/** Number of rows per asynchronous read. */
const ROWS_AT_ONCE = 128
/** Number of rows encoded, with all their index entries, before writers may run. */
const ENCODED_AT_ONCE = 96
const CRC_BYTES = 4
const NUMBER_BYTES = 2

const ROW = 'r'
const ENTRY = 'i'
const UNIQUE = 'u'
const REFLECTS = Buffer.from('reflects')
const RECORDS = Buffer.from('records')
const NAMES = Buffer.from('names')
const EMPTY = Buffer.alloc(0)

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
  /** All rows of one snapshot, by collection, each checked. @param onDamaged (default: throws) */
  walk(onDamaged?: OnDamaged): AsyncGenerator<readonly [collection: string, row: AnyRow]>
  close(): Promise<void>
}

type OnDamaged = (error: StoreDamaged) => void
const refuse: OnDamaged = (error) => {
  throw error
}

/** Rows of a store in an open database. @throws StoreFormatUnknown when an index declaration changed */
export async function openLevel(db: LevelDb, dir: string, collections: readonly AnyCollection[]): Promise<LevelBase> {
  let records = numberAt(db, RECORDS)
  let reflects = numberAt(db, REFLECTS)
  const numberOf = await numbersOf(db, collections)
  const view: View = { db, dir, frozen: undefined, readers: new Set() }
  const tables = new Map(
    collections.map((collection) => [collection.name, levelTable(view, { shape: shapeTable(collection), numberOf })]),
  )

  async function write({ staged, reflects: upTo }: DeepBatch, taken: () => void): Promise<void> {
    const batch: Batch = { removed: [], put: [] }
    await inTurns(staged, ENCODED_AT_ONCE, (one) => tables.get(one.write.collection)?.change(batch, one))
    const left = staged.reduce((sum, one) => sum + grownBy(one), records)
    batch.put.push([REFLECTS, numberBytes(upTo)], [RECORDS, numberBytes(left)])
    const frozen = db.snapshot()
    view.frozen = frozen
    try {
      await writeBatch(db, batch)
      records = left
      reflects = upTo
      taken()
    } finally {
      view.frozen = undefined
      await Promise.allSettled(view.readers)
      await frozen.close()
    }
  }

  async function* walk(onDamaged = refuse): AsyncGenerator<readonly [string, AnyRow]> {
    const snapshot = db.snapshot()
    try {
      for (const [name, table] of tables) for await (const row of table.walk(snapshot, onDamaged)) yield [name, row]
    } finally {
      await snapshot.close()
    }
  }

  return { tables, write, walk, records: () => records, reflects: () => reflects, close: () => db.close() }
}

function grownBy({ write: { row }, before }: Staged): number {
  return Number(row !== null) - Number(before !== undefined)
}

function numberAt(db: LevelDb, key: Buffer): number {
  return Number(db.getSync(key)?.toString() ?? 0)
}

const numberBytes = (value: number): Buffer => Buffer.from(String(value))

type NumberOf = (...names: readonly string[]) => Buffer

/** Numbers that stand for collections and indexes in database keys; assigned once. */
async function numbersOf(db: LevelDb, collections: readonly AnyCollection[]): Promise<NumberOf> {
  const known = new Map<string, unknown>(JSON.parse(db.getSync(NAMES)?.toString() ?? '[]'))
  const before = known.size
  for (const { name, key, indexes } of collections) {
    declare(known, name, key)
    for (const { order: _walked, ...definition } of indexes) declare(known, `${name}/${definition.name}`, definition)
  }
  if (known.size > before)
    await writeBatch(db, { removed: [], put: [[NAMES, Buffer.from(JSON.stringify([...known]))]] })
  const numbers = new Map([...known.keys()].map((name, n) => [name, n]))
  return (...names) => {
    const bytes = Buffer.alloc(NUMBER_BYTES)
    bytes.writeUInt16BE(numbers.get(names.join('/')) ?? 0)
    return bytes
  }
}

function declare(known: Map<string, unknown>, name: string, definition: unknown): void {
  if (!known.has(name)) known.set(name, definition)
  else if (JSON.stringify(known.get(name)) !== JSON.stringify(definition))
    throw new StoreFormatUnknown(`${name} was declared differently when its rows were written`)
}

type Parts = { readonly shape: TableShape; readonly numberOf: NumberOf }

/** Bytes as a map key. */
const latin = (bytes: Buffer): string => bytes.toString('latin1')
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Database keys of a table's rows and index entries. */
function keysOf({ shape, numberOf }: Parts) {
  const { name } = shape.collection
  const rowPrefix = Buffer.concat([Buffer.from(ROW), numberOf(name)])
  const startOf = (kind: string) =>
    new Map(
      [...shape.indexes.keys()].map((index) => [index, Buffer.concat([Buffer.from(kind), numberOf(name, index)])]),
    )
  const [entries, uniques] = [startOf(ENTRY), startOf(UNIQUE)]
  const tuple = (start: Buffer | undefined, values: readonly Scalar[], key: Buffer = EMPTY) =>
    Buffer.concat([start ?? EMPTY, ...values.map(encodeScalar), key])
  const valuesIn = ({ definition }: RowIndex, row: AnyRow) => definition.fields.map((field) => indexedValue(row, field))
  return {
    rowPrefix,
    row: (key: string) => Buffer.concat([rowPrefix, textBytes(key)]),
    place: (index: RowIndex, { values, key }: IndexPlace) =>
      tuple(entries.get(index.definition.name), values, key === undefined ? EMPTY : textBytes(key)),
    unique: (index: RowIndex, values: readonly Scalar[]) => tuple(uniques.get(index.definition.name), values),
    named(index: RowIndex, entry: Buffer): Buffer {
      let at = entries.get(index.definition.name)?.length ?? 0
      for (const _field of index.definition.fields) at = endOfScalar(entry, at)
      return Buffer.concat([rowPrefix, entry.subarray(at)])
    },
    /** Index entries of a row as key and value. Only those of unique indexes have a value: the row's key. */
    *entriesOf(key: string, row: AnyRow | undefined): Generator<readonly [string, Buffer]> {
      if (row === undefined) return
      for (const index of shape.indexes.values())
        if (index.holds(row))
          yield [latin(tuple(entries.get(index.definition.name), valuesIn(index, row), textBytes(key))), EMPTY]
      for (const index of shape.uniques) {
        const values = uniqueValues(index, row)
        if (values !== undefined) yield [latin(tuple(uniques.get(index.definition.name), values)), textBytes(key)]
      }
    },
    nameOf: (bytes: Buffer) => textOf(bytes.subarray(rowPrefix.length)),
  }
}

type Keys = ReturnType<typeof keysOf>

/** Encodes and decodes rows with their own checksum, since LevelDB rarely checks its own. */
function valueCodec({ collection, codec }: TableShape, dir: string, nameOf: Keys['nameOf']) {
  return {
    encode(row: AnyRow): Buffer {
      const json = Buffer.from(JSON.stringify(codec.toJson(row)))
      const value = Buffer.alloc(CRC_BYTES + json.length)
      value.writeUInt32BE(crc32(json))
      json.copy(value, CRC_BYTES)
      return value
    },
    decode(key: Buffer, value: Buffer | undefined): AnyRow | undefined {
      if (value === undefined) return undefined
      const json = value.subarray(CRC_BYTES)
      if (value.length < CRC_BYTES || crc32(json) !== value.readUInt32BE())
        throw new StoreDamaged(dir, 0, `the checksum of ${collection.name} ${nameOf(key)} is wrong`)
      return codec.fromJson(JSON.parse(json.toString()))
    },
  }
}

function levelTable(view: View, parts: Parts) {
  const { db, dir } = view
  const { shape } = parts
  const keys = keysOf(parts)
  const { encode, decode } = valueCodec(shape, dir, keys.nameOf)
  const seen = () => compact({ snapshot: view.frozen })
  const rowAt = (key: Buffer): AnyRow | undefined => decode(key, db.getSync(key, seen()))

  async function rowsAt(all: Buffer[], from = seen()): Promise<(AnyRow | undefined)[]> {
    const values = await db.getMany(all, from)
    return values.map((value, n) => decode(all[n] as Buffer, value))
  }

  // Reads index entries and their rows from the same snapshot.
  const page = (slice: Slice): Promise<readonly AnyRow[]> =>
    during(view, async (snapshot) => {
      const { index, isDescending: reverse, limit } = slice
      const entries = await db.keys({ ...rangeOf(keys, slice), reverse, limit, snapshot }).all()
      const names = entries.map((entry) => keys.named(index, entry))
      const rows = await rowsAt(names, { snapshot })
      return rows.map((row, n) => row ?? missing(dir, shape, entries[n] as Buffer))
    })

  const count = (index: RowIndex, prefix: readonly Scalar[]): Promise<number> =>
    during(view, async (snapshot) => {
      const from = keys.place(index, { values: prefix })
      const entries = db.keys({ gte: from, lt: behind(from), snapshot })
      let found = 0
      for (let more: Buffer[] = [from]; more.length > 0; found += more.length)
        more = await entries.nextv(ENTRIES_AT_ONCE)
      await entries.close()
      return found
    })

  const reads: TableReads = {
    shape,
    // A single row is usually cached or known to be absent, so it is read synchronously.
    rows: (names) => (names.length === 1 ? [rowAt(keys.row(names[0] as string))] : rowsAt(names.map(keys.row))),
    page,
    count,
    unique(index, values) {
      const key = db.getSync(keys.unique(index, values), seen())
      return key && rowAt(keys.row(textOf(key)))
    },
  }

  const walk = (snapshot: Moment, onDamaged: OnDamaged) =>
    walkRows(db.iterator({ gte: keys.rowPrefix, lt: behind(keys.rowPrefix), snapshot }), (key, value) =>
      sound(() => decode(key, value), onDamaged),
    )

  return { ...reads, change: changes(keys, encode), walk }
}

/** Adds a row's changes to a batch; unchanged index entries are skipped. */
function changes(keys: Keys, encode: (row: AnyRow) => Buffer) {
  return ({ removed, put }: Batch, { write: { key, row }, before }: Staged): void => {
    const fresh = row as AnyRow | null
    const old = new Map(keys.entriesOf(key, before))
    const entries = new Map(keys.entriesOf(key, fresh ?? undefined))
    removed.push(...[...old.keys()].filter((entry) => !entries.has(entry)).map(bytesOf))
    for (const [entry, value] of entries) if (!old.has(entry)) put.push([bytesOf(entry), value])
    if (fresh) put.push([keys.row(key), encode(fresh)])
    else removed.push(keys.row(key))
  }
}

async function* walkRows(
  rows: ReturnType<LevelDb['iterator']>,
  read: (key: Buffer, value: Buffer) => AnyRow | undefined,
): AsyncGenerator<AnyRow> {
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
