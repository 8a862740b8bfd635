import type { Staged } from '../engine/base.ts'
import type { AnyRow } from '../engine/order.ts'
import type { RowIndex } from '../engine/tables.ts'
import type { Scalar } from '../port.ts'

/** Number of decoded rows that a table keeps in memory, such as those of accounts and services in use. */
const ROWS_CACHED = 500
const COUNTS_CACHED = 64

/** Keeps rows that were read. Reads one row synchronously, because it is often kept or known to be absent. */
export function rowCache(read: (name: string) => AnyRow | undefined) {
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
export function countCache(read: (count: Count) => Promise<number>) {
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
