import { setImmediate as nextTurn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { ClassicLevel } from 'classic-level'
import { compact } from '../../../src/core/record.ts'
import type { Slice, Staged, TableReads } from '../engine/base.ts'
import type { DeepBase, DeepBatch } from '../engine/front.ts'
import { type AnyRow, type IndexPlace, indexedValue } from '../engine/order.ts'
import { type RowIndex, shapeTable, type TableShape, uniqueValues } from '../engine/tables.ts'
import { StoreDamaged, StoreFormatUnknown } from '../errors.ts'
import type { AnyCollection, Scalar } from '../port.ts'
import { behind, encodeScalar, endOfScalar, textBytes, textOf } from './bytes.ts'

/* Rows and index entries in LevelDB, which sorts them by the bytes of their keys and merges them in threads of its own. */

/** Index entries that one hop to a thread brings. */
const ENTRIES_AT_ONCE = 1_024
/** Rows, or entries, that are worked on before the event loop turns. */
const IN_ONE_TURN = 256
const CRC_BYTES = 4
const NUMBER_BYTES = 2

const ROW = 'r'
const ENTRY = 'i'
const UNIQUE = 'u'
const REFLECTS = Buffer.from('reflects')
const RECORDS = Buffer.from('records')
const NAMES = Buffer.from('names')
const EMPTY = Buffer.alloc(0)

type Snapshot = { close(): Promise<void> }
type From = { readonly snapshot?: Snapshot }
type Range = { readonly gte: Buffer; readonly lt: Buffer; readonly reverse?: boolean; readonly limit?: number }
/** What is used of the package `classic-level`, opened with keys and values that are buffers. */
export type LevelDb = {
  getSync(key: Buffer, from?: From): Buffer | undefined
  getMany(keys: Buffer[], from?: From): Promise<(Buffer | undefined)[]>
  keys(range: Range & From): {
    all(): Promise<Buffer[]>
    nextv(size: number): Promise<Buffer[]>
    close(): Promise<void>
  }
  /** Gathers what is written together. */
  batch(): {
    put(key: Buffer, value: Buffer): unknown
    del(key: Buffer): unknown
    write(options: { readonly sync: true }): Promise<void>
    close(): Promise<void>
  }
  snapshot(): Snapshot
  close(): Promise<void>
}

/** LevelDB replays its own log when it opens after a kill: the write buffer bounds it. */
const LEVEL_OPTIONS = {
  keyEncoding: 'buffer',
  valueEncoding: 'buffer',
  writeBufferSize: 4 * 1024 * 1024,
  cacheSize: 8 * 1024 * 1024,
} as const

/** What tables read from: while a batch is written, the rows before it. */
type View = {
  readonly db: LevelDb
  /** Names the folder in messages. */
  readonly dir: string
  frozen: Snapshot | undefined
  readonly readers: Set<Promise<unknown>>
}

/** Several reads of one moment. */
function during<T>({ db, frozen, readers }: View, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  if (frozen === undefined) {
    const own = db.snapshot()
    return read(own).finally(() => own.close())
  }
  const reading = read(frozen).finally(() => readers.delete(reading))
  readers.add(reading)
  return reading
}
type Batch = { readonly removed: Buffer[]; readonly put: (readonly [Buffer, Buffer])[] }

export type LevelBase = DeepBase & {
  /** The last transaction whose rows are all here, 0 in an empty one. */
  reflects(): number
  close(): Promise<void>
}

/** A database in a folder, closed by the caller. Its package is native, so it is loaded when it is needed. */
export async function openLevelDb(dir: string): Promise<ClassicLevel<Buffer, Buffer>> {
  const { ClassicLevel } = await import('classic-level')
  const db = new ClassicLevel<Buffer, Buffer>(dir, LEVEL_OPTIONS)
  await db.open()
  return db
}

/** Reads and writes the rows of a store in an open database. @throws StoreFormatUnknown where an index was declared differently before */
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
    await inTurns(staged, (one) => tables.get(one.write.collection)?.change(batch, one))
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

  return { tables, write, records: () => records, reflects: () => reflects, close: () => db.close() }
}

/** By how many rows a change makes a store larger. */
function grownBy({ write: { row }, before }: Staged): number {
  return Number(row !== null) - Number(before !== undefined)
}

/** Does something for each, and lets the event loop turn after a few of them. */
async function inTurns<T>(all: readonly T[], each: (one: T) => void): Promise<void> {
  for (const [n, one] of all.entries()) {
    each(one)
    if (n % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn()
  }
}

/** All of a batch or nothing; where it fails, nothing is there. */
async function writeBatch(db: LevelDb, { removed, put }: Batch): Promise<void> {
  const batch = db.batch()
  try {
    // A value of a unique index may move from one row to another: what goes, goes first.
    await inTurns(removed, (key) => batch.del(key))
    await inTurns(put, ([key, value]) => batch.put(key, value))
    // Without sync, a power cut may take an older log of LevelDB and leave a newer one.
    await batch.write({ sync: true })
  } finally {
    await batch.close()
  }
}

function numberAt(db: LevelDb, key: Buffer): number {
  return Number(db.getSync(key)?.toString() ?? 0)
}

const numberBytes = (value: number): Buffer => Buffer.from(String(value))

type NumberOf = (...names: readonly string[]) => Buffer

/** Numbers stand for collections and indexes in keys; they are given once and written down. */
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

/** Bytes as a string, to be found in a map. */
const latin = (bytes: Buffer): string => bytes.toString('latin1')
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/** How the rows and entries of one table are called. */
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
    row: (key: string) => Buffer.concat([rowPrefix, textBytes(key)]),
    place: (index: RowIndex, { values, key }: IndexPlace) =>
      tuple(entries.get(index.definition.name), values, key === undefined ? EMPTY : textBytes(key)),
    unique: (index: RowIndex, values: readonly Scalar[]) => tuple(uniques.get(index.definition.name), values),
    /** The key of the row that an index entry names. */
    named(index: RowIndex, entry: Buffer): Buffer {
      let at = entries.get(index.definition.name)?.length ?? 0
      for (const _field of index.definition.fields) at = endOfScalar(entry, at)
      return Buffer.concat([rowPrefix, entry.subarray(at)])
    },
    /** Entries of a row: key, and the value of unique ones. */
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

/** Rows carry a checksum of their own: LevelDB looks at its own only now and then. */
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
        throw new StoreDamaged(dir, 0, `the checksum of ${collection.name} ${nameOf(key)} does not hold`)
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

  // Rows are those of the moment of their entries: a batch may come between.
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
    // One row is mostly in the cache, or known to be absent: a hop to a thread would cost more.
    rows: (names) => (names.length === 1 ? [rowAt(keys.row(names[0] as string))] : rowsAt(names.map(keys.row))),
    page,
    count,
    unique(index, values) {
      const key = db.getSync(keys.unique(index, values), seen())
      return key && rowAt(keys.row(textOf(key)))
    },
  }

  /** Adds what makes one row that of now. Entries that stay are not written again. */
  function change({ removed, put }: Batch, { write: { key, row }, before }: Staged): void {
    const fresh = row as AnyRow | null
    const old = new Map(keys.entriesOf(key, before))
    const entries = new Map(keys.entriesOf(key, fresh ?? undefined))
    removed.push(...[...old.keys()].filter((entry) => !entries.has(entry)).map(bytesOf))
    for (const [entry, value] of entries) if (!old.has(entry)) put.push([bytesOf(entry), value])
    if (fresh) put.push([keys.row(key), encode(fresh)])
    else removed.push(keys.row(key))
  }

  return { ...reads, change }
}

function missing(dir: string, { collection }: TableShape, entry: Buffer): never {
  throw new StoreDamaged(dir, 0, `a row of ${collection.name} is missing that the entry ${entry.toString('hex')} names`)
}

/** Keys of the entries of a slice, in ascending order. */
function rangeOf(keys: Keys, { index, prefix, isDescending, after, until }: Slice) {
  const whole = keys.place(index, { values: prefix })
  const at = (place: IndexPlace): Buffer => keys.place(index, place)
  /** Behind the entries that a place covers: of one row, or of all with its values. */
  const past = (place: IndexPlace): Buffer =>
    place.key === undefined ? behind(at(place)) : Buffer.concat([at(place), Buffer.alloc(1)])
  if (isDescending) return { gte: until ? at(until) : whole, lt: after ? at(after) : behind(whole) }
  return { gte: after ? past(after) : whole, lt: until ? past(until) : behind(whole) }
}
