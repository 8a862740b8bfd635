import { StoreMisuse } from '../errors.ts'
import type { Page, PageQuery, Reader, Row, Scalar } from '../port.ts'
import { type AnyRow, decodeCursor, encodeCursor, type IndexPlace } from './order.ts'
import { type Awaitable, chain, type Slice, type TableReads } from './rows.ts'
import type { ScopeGuard } from './scope.ts'
import { placeIn, type RowIndex, type TableShape } from './tables.ts'

export const MAX_PAGE_ROWS = 1_000

export function readRow(reads: TableReads, key: string): Awaitable<AnyRow | undefined> {
  return chain(reads.rows([key]), (rows) => rows[0])
}

function indexOf(table: TableShape, name: string): RowIndex {
  const index = table.indexes.get(name)
  if (index === undefined) throw new StoreMisuse(`${table.collection.name} has no index ${name}`)
  return index
}

/** The cursor's place in the index, with its leading values replaced by the prefix. */
function startOf(index: RowIndex, prefix: readonly Scalar[], cursor: string): Required<IndexPlace> {
  const { definition } = index
  const place = decodeCursor(definition.name, definition.fields.length, cursor)
  return { key: place.key, values: [...prefix, ...place.values.slice(prefix.length)] }
}

function afterOf(index: RowIndex, prefix: readonly Scalar[], query: PageQuery): IndexPlace | undefined {
  if (query.beyond !== undefined) return { values: [...prefix, ...query.beyond] }
  return query.after === undefined ? undefined : startOf(index, prefix, query.after)
}

/** One extra row shows whether there is more. */
function sliceOf(index: RowIndex, prefix: readonly Scalar[], query: PageQuery): Slice {
  const { limit } = query
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_ROWS)
    throw new StoreMisuse(`limit must be from 1 to ${MAX_PAGE_ROWS}, not ${limit}`)
  return {
    index,
    prefix,
    isDescending: (query.order ?? index.definition.order ?? 'asc') === 'desc',
    after: afterOf(index, prefix, query),
    until: query.until === undefined ? undefined : startOf(index, prefix, query.until),
    limit: limit + 1,
  }
}

function pageIn<R extends Row>({ shape }: TableReads, { index, limit }: Slice, found: readonly AnyRow[]): Page<R> {
  const rows = found.length < limit ? found : found.slice(0, -1)
  const more = found.length === limit
  const last = rows.at(-1)
  if (last === undefined) return { rows: [], cursor: null, more }
  const cursor = encodeCursor(index.definition.name, placeIn(shape, index, last))
  return { rows: rows as readonly AnyRow[] as readonly R[], cursor, more }
}

/** Reader of a table; every call goes through `guard`. */
export function createReader<R extends Row>(reads: TableReads, guard: ScopeGuard): Reader<R> {
  const isThere = (row: AnyRow | undefined): row is AnyRow => row !== undefined
  return {
    get: (key) => guard(() => readRow(reads, key) as Awaitable<R | undefined>),
    getMany: (keys) =>
      guard(() => chain(reads.rows(keys), (rows) => rows.filter(isThere) as readonly AnyRow[] as readonly R[])),
    page: (name, prefix, query) =>
      guard(() => {
        const slice = sliceOf(indexOf(reads.shape, name), prefix, query)
        return chain(reads.page(slice), (rows) => pageIn<R>(reads, slice, rows))
      }),
    count: (name, prefix) => guard(() => reads.count(indexOf(reads.shape, name), prefix)),
  }
}
