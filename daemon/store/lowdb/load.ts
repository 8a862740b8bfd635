import type { AnyRow } from '../engine/order.ts'
import type { State, TableState } from '../engine/state.ts'
import { StoreFormatUnknown } from '../errors.ts'
import type { Migration } from '../migrations.ts'

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
  function migrated(collection: string, row: unknown): { collection: string; row: unknown } {
    let current = { collection, row }
    for (const step of steps) current = step(current)
    return current
  }

  function tableOf(collection: string): TableState {
    const table = state.get(collection)
    if (table === undefined)
      throw new StoreFormatUnknown(`the store holds a collection ${collection} unknown to this souk`)
    return table
  }

  function putWhole(collection: string, stored: unknown): void {
    const { collection: name, row } = migrated(collection, stored)
    if (row === null) return
    const table = tableOf(name)
    const decoded = table.codec.fromJson(row as AnyRow)
    table.apply(decoded[table.collection.key] as string, decoded)
  }

  function put(collection: string, key: string, stored: unknown): void {
    const { collection: name, row } = migrated(collection, stored)
    // A row that a migration drops may have been loaded, in an earlier form, from the snapshot.
    if (row === null) state.get(name)?.apply(key, null)
    else tableOf(name).apply(key, tableOf(name).codec.fromJson(row as AnyRow))
  }

  return { put, putWhole }
}
