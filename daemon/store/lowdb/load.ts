import type { AnyRow } from '../engine/order.ts'
import { putRow, type RowSet, type State } from '../engine/rows.ts'
import { keyOf } from '../engine/tables.ts'
import { StoreFormatUnknown } from '../errors.ts'
import { type Migration, migrated } from '../migrations.ts'

/** Puts stored rows into the state: through the migrations of their format, then with their bigints back. */
export type Loader = {
  /** Row as its JSON was; null removes. Rows carry a checksum, so they are not validated again. */
  put(collection: string, key: string, stored: unknown): void
  /** The same for a row that names its own key. */
  putWhole(collection: string, stored: unknown): void
  /** Hears of the bytes read. */
  saw?(bytes: number): void
}

/** Keeps nothing: for looking through files of any size. */
export const discarding: Loader = { put: () => undefined, putWhole: () => undefined }

/** @param steps - migrations still to run for the format at hand, oldest first. */
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
    // A row that a migration drops may have been loaded, in an earlier form, from the snapshot.
    const table = row === null ? state.get(name) : tableOf(name)
    if (table !== undefined) putRow(table, key, row === null ? null : table.shape.codec.fromJson(row as AnyRow))
  }

  return { put, putWhole }
}
