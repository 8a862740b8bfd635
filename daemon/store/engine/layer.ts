import type { Scalar } from '../port.ts'
import type { AnyRow } from './order.ts'
import {
  type Awaitable,
  chain,
  countOf,
  createRowSet,
  pageOf,
  putRow,
  type RowSet,
  type Slice,
  type Staged,
  type TableReads,
  uniqueOf,
} from './rows.ts'
import { keyOf, placeIn, type RowIndex } from './tables.ts'

/** A set of changes above a table, such as a transaction's writes. Reads see them instead of the table's rows. */
export type Layer = TableReads & {
  /** Writes a row; null removes it. @param current - the row visible until now */
  put(key: string, row: AnyRow | null, current: AnyRow | undefined): void
  /** Changes in order of first write. A row that is inserted and deleted again leaves no change. */
  staged(): Staged[]
}

export function layerOver(below: TableReads): Layer {
  const { shape } = below
  /** Rows of the lower table that this layer hides, by key. */
  const covered = new Map<string, AnyRow | undefined>()
  const fresh = createRowSet(shape)
  /** The rows of the lower layer that this layer replaces or deletes; built on the first count. */
  let hidden: RowSet | undefined

  function put(key: string, row: AnyRow | null, current: AnyRow | undefined): void {
    if (!covered.has(key)) {
      covered.set(key, current)
      if (hidden && current) putRow(hidden, key, current)
    }
    putRow(fresh, key, row)
  }

  function rows(keys: readonly string[]): Awaitable<readonly (AnyRow | undefined)[]> {
    const unknown = covered.size === 0 ? keys : keys.filter((key) => !covered.has(key))
    if (unknown.length === keys.length) return below.rows(keys)
    if (unknown.length === 0) return keys.map((key) => fresh.rows.get(key))
    return chain(below.rows(unknown), (found) => {
      const byKey = new Map(unknown.map((key, n) => [key, found[n]]))
      return keys.map((key) => (covered.has(key) ? fresh.rows.get(key) : byKey.get(key)))
    })
  }

  function countHidden(index: RowIndex, prefix: readonly Scalar[]): number {
    if (covered.size === 0) return 0
    if (hidden === undefined) {
      hidden = createRowSet(shape)
      for (const [key, row] of covered) putRow(hidden, key, row ?? null)
    }
    return countOf(hidden, index, prefix)
  }

  function staged(): Staged[] {
    const all: Staged[] = []
    for (const [key, before] of covered) {
      const row = fresh.rows.get(key) ?? null
      if (row === null && before === undefined) continue
      all.push({ write: { collection: shape.collection.name, key, row }, before })
    }
    return all
  }

  const isBelow = (row: AnyRow): boolean => !covered.has(keyOf(shape, row))
  return {
    shape,
    put,
    rows,
    page: (slice) => (covered.size === 0 ? below.page(slice) : pageThrough(below, { isBelow, fresh }, slice)),
    count: (index, prefix) =>
      chain(below.count(index, prefix), (n) => n - countHidden(index, prefix) + countOf(fresh, index, prefix)),
    unique: (index, values) =>
      uniqueOf(fresh, index, values) ??
      chain(below.unique(index, values), (row) => (row !== undefined && isBelow(row) ? row : undefined)),
    staged,
  }
}

type Cover = { readonly isBelow: (row: AnyRow) => boolean; readonly fresh: RowSet }

/** Merges the visible rows of the lower table with the layer's own rows. */
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
