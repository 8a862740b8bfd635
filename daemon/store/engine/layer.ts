import type { Write } from '../port.ts'
import { type Awaitable, chain, type Slice, type TableReads } from './base.ts'
import type { AnyRow } from './order.ts'
import { countOf, createRowSet, pageOf, putRow, type RowSet, uniqueOf } from './rows.ts'
import { keyOf, placeIn } from './tables.ts'

/** Changes to a table that lie over its rows and are read in their place, such as what a transaction has written so far. */
export type Layer = TableReads & {
  /** @param current - the row as it is read now; null for `row` removes it. */
  put(key: string, row: AnyRow | null, current: AnyRow | undefined): void
  /** The changes, in the order of their keys' first ones. A row that was inserted and deleted again leaves none. */
  writes(): Write[]
}

export function layerOver(below: TableReads): Layer {
  const { shape } = below
  /** Keys whose rows below are not read any more. */
  const touched = new Set<string>()
  const fresh = createRowSet(shape)
  /** The rows below that were replaced or removed. */
  const hidden = createRowSet(shape)

  const isBelow = (row: AnyRow): boolean => !touched.has(keyOf(shape, row))

  function put(key: string, row: AnyRow | null, current: AnyRow | undefined): void {
    if (!touched.has(key) && current !== undefined) putRow(hidden, key, current)
    touched.add(key)
    putRow(fresh, key, row)
  }

  function rows(keys: readonly string[]): Awaitable<readonly (AnyRow | undefined)[]> {
    const unknown = touched.size === 0 ? keys : keys.filter((key) => !touched.has(key))
    if (unknown.length === 0) return keys.map((key) => fresh.rows.get(key))
    if (unknown.length === keys.length) return below.rows(keys)
    return chain(below.rows(unknown), (found) => {
      const byKey = new Map(unknown.map((key, n) => [key, found[n]]))
      return keys.map((key) => (touched.has(key) ? fresh.rows.get(key) : byKey.get(key)))
    })
  }

  return {
    shape,
    put,
    rows,
    page: (slice) => (touched.size === 0 ? below.page(slice) : pageThrough(below, { isBelow, fresh }, slice)),
    count: (index, prefix) =>
      chain(below.count(index, prefix), (n) => n - countOf(hidden, index, prefix) + countOf(fresh, index, prefix)),
    unique: (index, values) =>
      uniqueOf(fresh, index, values) ??
      chain(below.unique(index, values), (row) => (row !== undefined && isBelow(row) ? row : undefined)),
    writes: () =>
      [...touched].flatMap((key) => {
        const row = fresh.rows.get(key) ?? null
        return row === null && !hidden.rows.has(key) ? [] : [{ collection: shape.collection.name, key, row }]
      }),
  }
}

type Cover = { readonly isBelow: (row: AnyRow) => boolean; readonly fresh: RowSet }

/** Reads on below until enough of its rows are not hidden, then puts the fresh ones between them. */
function pageThrough(below: TableReads, { isBelow, fresh }: Cover, slice: Slice): Awaitable<readonly AnyRow[]> {
  const { index, limit } = slice
  const read = (known: readonly AnyRow[]): Awaitable<readonly AnyRow[]> => {
    const last = known.at(-1)
    const rest = last === undefined ? slice : { ...slice, after: placeIn(below.shape, index, last) }
    return chain(below.page(rest), (more) => {
      const all = known.length === 0 ? more : [...known, ...more]
      const visible = all.filter(isBelow)
      return more.length < limit || visible.length >= limit ? merged(slice, visible, pageOf(fresh, slice)) : read(all)
    })
  }
  return read([])
}

function merged({ index, isDescending, limit }: Slice, visible: readonly AnyRow[], own: readonly AnyRow[]) {
  const compare = (a: AnyRow, b: AnyRow) => (isDescending ? index.compareRows(b, a) : index.compareRows(a, b))
  return (own.length === 0 ? visible : [...visible, ...own].sort(compare)).slice(0, limit)
}
