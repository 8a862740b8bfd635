import { StoreMisuse } from '../errors.ts'
import type { AnyCollection, Scalar, Write } from '../port.ts'
import type { AnyRow, IndexPlace } from './order.ts'
import { createSorted, type Sorted } from './sorted.ts'
import { type RowIndex, shapeTable, type TableShape } from './tables.ts'

/** Rows in memory by key, and by each used index. */
export type RowSet = {
  readonly shape: TableShape
  readonly rows: Map<string, AnyRow>
  /** Indexes are sorted on first use and maintained afterwards. */
  sorted: Map<RowIndex, Sorted<AnyRow>> | undefined
}

export function createRowSet(shape: TableShape): RowSet {
  return { shape, rows: new Map(), sorted: undefined }
}

/** Puts a row; null removes it. */
export function putRow({ rows, sorted }: RowSet, key: string, row: AnyRow | null): void {
  const before = sorted && rows.get(key)
  if (row === null) rows.delete(key)
  else rows.set(key, row)
  if (sorted === undefined) return
  for (const [index, list] of sorted) {
    const held = (one: AnyRow | null | undefined): AnyRow | undefined => (one && index.holds(one) ? one : undefined)
    move(list, index, { old: held(before), fresh: held(row) })
  }
}

type Move = { readonly old: AnyRow | undefined; readonly fresh: AnyRow | undefined }

function move(list: Sorted<AnyRow>, { compareRows }: RowIndex, { old, fresh }: Move): void {
  if (old && fresh && compareRows(old, fresh) === 0) {
    list.replace(fresh)
    return
  }
  if (old) list.remove(old)
  if (fresh) list.insert(fresh)
}

function inOrder(set: RowSet, index: RowIndex): Sorted<AnyRow> {
  const known = set.sorted?.get(index)
  if (known !== undefined) return known
  const all = [...set.rows.values()]
  const built = createSorted(index.compareRows, index.definition.where === undefined ? all : all.filter(index.holds))
  set.sorted ??= new Map()
  set.sorted.set(index, built)
  return built
}

export function pageOf(set: RowSet, slice: Slice): AnyRow[] {
  const { index, prefix, isDescending, after, limit } = slice
  const start: IndexPlace = after ?? { values: prefix }
  const probe = (row: AnyRow): number => index.compareToPlace(row, start)
  const list = inOrder(set, index)
  const rows: AnyRow[] = []
  for (const row of isDescending ? list.backward(probe) : list.forward(probe)) {
    if (rows.length === limit || isBehind(slice, row)) break
    if (after === undefined || probe(row) !== 0) rows.push(row)
  }
  return rows
}

/** Whether a row is past the slice's end. */
function isBehind({ index, prefix, isDescending, until }: Slice, row: AnyRow): boolean {
  if (index.compareToPlace(row, { values: prefix }) !== 0) return true
  return until !== undefined && (isDescending ? -1 : 1) * index.compareToPlace(row, until) > 0
}

export function countOf(set: RowSet, index: RowIndex, prefix: readonly Scalar[]): number {
  if (set.rows.size === 0) return 0
  const list = inOrder(set, index)
  const probe = (row: AnyRow): number => index.compareToPlace(row, { values: prefix })
  return prefix.length === 0 ? list.size() : list.countBetween(probe, probe)
}

export function uniqueOf(set: RowSet, index: RowIndex, values: readonly Scalar[]): AnyRow | undefined {
  if (set.rows.size === 0) return undefined
  const probe = (row: AnyRow): number => index.compareToPlace(row, { values })
  for (const row of inOrder(set, index).forward(probe)) return probe(row) === 0 ? row : undefined
  return undefined
}

/** All rows by collection. */
export type State = ReadonlyMap<string, RowSet>

export function createState(collections: readonly AnyCollection[]): State {
  const state = new Map<string, RowSet>()
  for (const collection of collections) {
    if (state.has(collection.name)) throw new StoreMisuse(`two collections are named ${collection.name}`)
    state.set(collection.name, createRowSet(shapeTable(collection)))
  }
  return state
}

export function countRecords(state: State): number {
  let records = 0
  for (const { rows } of state.values()) records += rows.size
  return records
}

export function memoryBase(state: State): Base {
  return {
    tables: new Map([...state].map(([name, set]) => [name, readsOf(set)])),
    records: () => countRecords(state),
    apply(staged) {
      for (const { write } of staged)
        putRow(state.get(write.collection) as RowSet, write.key, write.row as AnyRow | null)
    },
  }
}

export function readsOf(set: RowSet): TableReads {
  return {
    shape: set.shape,
    rows: (keys) => keys.map((key) => set.rows.get(key)),
    page: (slice) => pageOf(set, slice),
    count: (index, prefix) => countOf(set, index, prefix),
    unique: (index, values) => uniqueOf(set, index, values),
  }
}

/** A value or its promise: a memory base answers synchronously. */
export type Awaitable<T> = T | Promise<T>

/** Continues with a value, synchronously if possible. */
export function chain<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Selects at most `limit` rows of an index that begin with a prefix. */
export type Slice = {
  readonly index: RowIndex
  readonly prefix: readonly Scalar[]
  readonly isDescending: boolean
  /** The slice starts after all rows that match this place. */
  readonly after: IndexPlace | undefined
  /** Inclusive. */
  readonly until: IndexPlace | undefined
  readonly limit: number
}

/** Reads of one table. A layer answers from its own rows and asks the layer below for the rest. */
export type TableReads = {
  readonly shape: TableShape
  /** One entry per key; undefined if missing. */
  rows(keys: readonly string[]): Awaitable<readonly (AnyRow | undefined)[]>
  /** At most `limit` rows in slice order. */
  page(slice: Slice): Awaitable<readonly AnyRow[]>
  count(index: RowIndex, prefix: readonly Scalar[]): Awaitable<number>
  unique(index: RowIndex, values: readonly Scalar[]): Awaitable<AnyRow | undefined>
}

/** A transaction's write of one row, with the row as it was before. */
export type Staged = { readonly write: Write; readonly before: AnyRow | undefined }

/** Where committed rows are stored; the engine's only interface to them. */
export type Base = {
  readonly tables: ReadonlyMap<string, TableReads>
  /** Applies a transaction; later reads see all of it. */
  apply(staged: readonly Staged[]): void
  /** Number of rows in all tables. */
  records(): number
}
