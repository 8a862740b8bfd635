import type { AnyRow } from '../engine/order.ts'
import { putRow, type RowSet, type State } from '../engine/rows.ts'
import { keyOf } from '../engine/tables.ts'
import { StoreFormatUnknown } from '../errors.ts'
import { type Migration, migrated } from '../migrations.ts'

/** Loads stored rows: migrates them, then restores bigints. */
export type Loader = {
  /** A parsed row; null removes. Checksums replace validation. */
  put(collection: string, key: string, stored: unknown): void
  /** The same for a row with its own key. */
  putWhole(collection: string, stored: unknown): void
  /** Called with the bytes read. */
  saw?(bytes: number): void
}

/** Drops rows, to scan files of any size. */
export const discarding: Loader = { put: () => undefined, putWhole: () => undefined }

/** @param steps - remaining migrations, oldest first */
export function createLoader(state: State, steps: readonly Migration[]): Loader {
  function tableOf(collection: string): RowSet {
    const table = state.get(collection)
    if (table === undefined)
      throw new StoreFormatUnknown(`the store holds a collection ${collection} unknown to this souk`)
    return table
  }

  function putWhole(collection: string, stored: unknown): void {
    const { collection: name, row } = migrated(steps, { collection, row: stored })
    if (row === null) return
    const table = tableOf(name)
    const decoded = table.shape.codec.fromJson(row as AnyRow)
    putRow(table, keyOf(table.shape, decoded), decoded)
  }

  function put(collection: string, key: string, stored: unknown): void {
    const { collection: name, row } = migrated(steps, { collection, row: stored })
    // A dropped row may be loaded from the snapshot.
    const table = row === null ? state.get(name) : tableOf(name)
    if (table !== undefined) putRow(table, key, row === null ? null : table.shape.codec.fromJson(row as AnyRow))
  }

  return { put, putWhole }
}
