import { StoreMisuse } from '../errors.ts'
import type { Page, PageQuery, Reader, Row, Scalar } from '../port.ts'
import { type AnyRow, decodeCursor, encodeCursor, type IndexPlace, indexedValue } from './order.ts'
import type { RowIndex, TableState } from './state.ts'

/** Widest page; longer scans walk in pages. */
export const MAX_PAGE_ROWS = 1_000

/** Rows that a transaction has written and not yet committed; null for deleted. */
export type Overlay = ReadonlyMap<string, AnyRow | null>

/** A table as one reader sees it: the committed rows, with the overlay on top. */
export type StoreView = { readonly table: TableState; readonly overlay: Overlay | undefined }

export function readRow(view: StoreView, key: string): AnyRow | undefined {
  const staged = view.overlay?.get(key)
  if (staged !== undefined) return staged ?? undefined
  return view.table.rows.get(key)
}

function indexOf(table: TableState, name: string): RowIndex {
  const index = table.indexes.get(name)
  if (index === undefined) throw new StoreMisuse(`${table.collection.name} has no index ${name}`)
  return index
}

function keyOf(table: TableState, row: AnyRow): string {
  return row[table.collection.key] as string
}

/** Staged rows of the overlay that lie under the prefix. */
function stagedUnder(view: StoreView, index: RowIndex, prefix: readonly Scalar[]): AnyRow[] {
  if (view.overlay === undefined) return []
  const rows: AnyRow[] = []
  for (const row of view.overlay.values()) {
    if (row !== null && index.holds(row) && index.compareToPlace(row, { values: prefix }) === 0) rows.push(row)
  }
  return rows
}

export function readCount(view: StoreView, name: string, prefix: readonly Scalar[]): number {
  const index = indexOf(view.table, name)
  const place: IndexPlace = { values: prefix }
  const probe = (row: AnyRow): number => index.compareToPlace(row, place)
  const sorted = index.sorted()
  let count = prefix.length === 0 ? sorted.size() : sorted.countBetween(probe, probe)
  for (const key of view.overlay?.keys() ?? []) {
    const before = view.table.rows.get(key)
    if (before !== undefined && index.holds(before) && probe(before) === 0) count -= 1
  }
  return count + stagedUnder(view, index, prefix).length
}

type Walk = {
  readonly index: RowIndex
  readonly prefix: readonly Scalar[]
  readonly isDescending: boolean
  readonly after: IndexPlace | undefined
  readonly until: Required<IndexPlace> | undefined
}

/** Committed rows under the prefix from the cursor on, without those that the overlay replaces. */
function* walkCommitted(view: StoreView, walk: Walk): Generator<AnyRow> {
  const { index, prefix, isDescending } = walk
  const start: IndexPlace = walk.after ?? { values: prefix }
  const probe = (row: AnyRow): number => index.compareToPlace(row, start)
  const sorted = index.sorted()
  for (const row of isDescending ? sorted.backward(probe) : sorted.forward(probe)) {
    if (index.compareToPlace(row, { values: prefix }) !== 0) return
    if (view.overlay?.has(keyOf(view.table, row)) !== true) yield row
  }
}

/** Committed and staged rows in one order. */
function* walkMerged(view: StoreView, walk: Walk): Generator<AnyRow> {
  const sign = walk.isDescending ? -1 : 1
  const staged = stagedUnder(view, walk.index, walk.prefix).sort((a, b) => sign * walk.index.compareRows(a, b))
  let next = 0
  for (const row of walkCommitted(view, walk)) {
    for (let s = staged[next]; s !== undefined && sign * walk.index.compareRows(s, row) < 0; s = staged[next]) {
      yield s
      next += 1
    }
    yield row
  }
  yield* staged.slice(next)
}

/** A cursor outside the prefix is moved to the prefix, so that it never shows rows of another list. */
function startOf(index: RowIndex, prefix: readonly Scalar[], cursor: string): Required<IndexPlace> {
  const { definition } = index
  const place = decodeCursor(definition.name, definition.fields.length, cursor)
  return { key: place.key, values: [...prefix, ...place.values.slice(prefix.length)] }
}

function afterOf(index: RowIndex, prefix: readonly Scalar[], query: PageQuery): IndexPlace | undefined {
  if (query.beyond !== undefined) return { values: [...prefix, ...query.beyond] }
  return query.after === undefined ? undefined : startOf(index, prefix, query.after)
}

/** What `page` was asked: an index by name, the values of its first fields, and the slice. */
export type PageRequest = { readonly name: string; readonly prefix: readonly Scalar[]; readonly query: PageQuery }

export function readPage(view: StoreView, request: PageRequest): Page<AnyRow> {
  const { name, prefix, query } = request
  const index = indexOf(view.table, name)
  const { limit } = query
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_ROWS)
    throw new StoreMisuse(`limit ${limit} is not within 1 and ${MAX_PAGE_ROWS}`)
  const walk: Walk = {
    index,
    prefix,
    isDescending: (query.order ?? index.definition.order ?? 'asc') === 'desc',
    after: afterOf(index, prefix, query),
    until: query.until === undefined ? undefined : startOf(index, prefix, query.until),
  }
  const { rows, more } = collect(view, walk, limit)
  const last = rows.at(-1)
  if (last === undefined) return { rows, cursor: null, more }
  const values = index.definition.fields.map((field) => indexedValue(last, field))
  return { rows, cursor: encodeCursor(name, { key: keyOf(view.table, last), values }), more }
}

function collect(view: StoreView, walk: Walk, limit: number): { rows: AnyRow[]; more: boolean } {
  const sign = walk.isDescending ? -1 : 1
  const rows: AnyRow[] = []
  for (const row of walkMerged(view, walk)) {
    if (walk.after !== undefined && sign * walk.index.compareToPlace(row, walk.after) <= 0) continue
    if (walk.until !== undefined && sign * walk.index.compareToPlace(row, walk.until) > 0) break
    if (rows.length === limit) return { rows, more: true }
    rows.push(row)
  }
  return { rows, more: false }
}

/** Reading calls of the port over a view; `guard` runs before each. */
export function createReader<R extends Row>(view: StoreView, guard: <T>(call: () => T) => Promise<T>): Reader<R> {
  const rowsAs = (rows: readonly AnyRow[]): readonly R[] => rows as readonly AnyRow[] as readonly R[]
  return {
    get: (key) => guard(() => readRow(view, key) as R | undefined),
    getMany: (keys) => guard(() => rowsAs(keys.flatMap((key) => readRow(view, key) ?? []))),
    page: (index, prefix, query) =>
      guard(() => {
        const page = readPage(view, { name: index, prefix, query })
        return { ...page, rows: rowsAs(page.rows) }
      }),
    count: (index, prefix) => guard(() => readCount(view, index, prefix)),
  }
}
