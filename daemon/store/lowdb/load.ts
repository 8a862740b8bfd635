import type { Front } from '../engine/front.ts'
import type { AnyRow } from '../engine/order.ts'
import { putRow, type State } from '../engine/rows.ts'
import { keyOf, type TableShape } from '../engine/tables.ts'
import { StoreFormatUnknown } from '../errors.ts'
import { type Migration, migrated } from '../migrations.ts'

/** Loads stored rows: migrates them, then restores bigints. */
export type Loader = {
  /** Adds a parsed row; null removes it. It is not validated, because checksums protect it. */
  put(collection: string, key: string, stored: unknown): void
  /** Adds a stored row that contains its key. */
  putWhole(collection: string, stored: unknown): void
  /** Called with the number of bytes read. */
  saw?(bytes: number): void
}

/** A loader that drops all rows, to scan files of any size. */
export const discarding: Loader = { put: () => undefined, putWhole: () => undefined }

export type RowSink = {
  readonly shapes: { readonly get: (collection: string) => { readonly shape: TableShape } | undefined }
  put(collection: string, key: string, row: AnyRow | null): void
}

export function intoState(state: State): RowSink {
  return {
    shapes: state,
    put(collection, key, row) {
      const table = state.get(collection)
      if (table) putRow(table, key, row)
    },
  }
}

/** A sink that applies the journal's transactions which LevelDB does not have yet. */
export function intoFront(front: Front): RowSink {
  return {
    shapes: front.tables,
    put(collection, key, row) {
      const found = front.tables.get(collection)?.rows([key])
      if (found instanceof Promise) throw new TypeError('this front must read a row synchronously')
      const before = found?.[0]
      if (row !== null || before !== undefined) front.apply([{ write: { collection, key, row }, before }])
    },
  }
}

/** @param steps - remaining migrations, oldest first */
export function createLoader(sink: RowSink, steps: readonly Migration[]): Loader {
  function shapeOf(collection: string): TableShape {
    const table = sink.shapes.get(collection)
    if (table === undefined)
      throw new StoreFormatUnknown(`the store has an unknown collection ${collection}: upgrade souk`)
    return table.shape
  }

  function putWhole(collection: string, stored: unknown): void {
    const { collection: name, row } = migrated(steps, { collection, row: stored })
    if (row === null) return
    const shape = shapeOf(name)
    const decoded = shape.codec.fromJson(row as AnyRow)
    sink.put(name, keyOf(shape, decoded), decoded)
  }

  function put(collection: string, key: string, stored: unknown): void {
    const { collection: name, row } = migrated(steps, { collection, row: stored })
    // If a migration drops a row, remove it here, too, because the snapshot may have an earlier version of it.
    sink.put(name, key, row === null ? null : shapeOf(name).codec.fromJson(row as AnyRow))
  }

  return { put, putWhole }
}
