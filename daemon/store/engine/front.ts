import { layerOver } from './layer.ts'
import type { AnyRow } from './order.ts'
import type { Base, Staged, TableReads } from './rows.ts'

/** Persistent storage behind the front, written in batches. */
export type DeepBase = Pick<Base, 'tables' | 'records'> & {
  /**
   * Writes a batch atomically and durably. Reads must see none of it before `taken` is called, and all of it
   * afterwards, so that counts are consistent.
   */
  write(batch: DeepBatch, taken: () => void): Promise<void>
}

/** Changes since the last batch, up to the transaction with the number `reflects`. */
export type DeepBatch = {
  readonly staged: readonly Staged[]
  readonly reflects: number
  /** Journal files that have these changes, too. */
  readonly segments?: readonly string[] | undefined
}

/** An in-memory layer of the store. It holds the changes that the layer on disk does not have yet. */
export type Front = Base & {
  /** Number of changes that were not yet written to the deep base. */
  waiting(): number
  /**
   * Writes the waiting changes to the deep base. If the last flush failed, writes its batch again. Calls must not
   * overlap.
   * @param ready - awaited before anything is written; returns the journal files that have the changes
   */
  flush(reflects: number, ready?: () => Promise<DeepBatch['segments']>): Promise<void>
}

function redirect(deep: TableReads, now: () => TableReads): TableReads {
  return {
    shape: deep.shape,
    rows: (keys) => now().rows(keys),
    page: (slice) => now().page(slice),
    count: (index, prefix) => now().count(index, prefix),
    unique: (index, values) => now().unique(index, values),
  }
}

/** A table in three layers: new changes, changes being written, and the rows below them (`deep`). */
function openTable(deep: TableReads) {
  let top = layerOver(deep)
  return {
    reads: redirect(deep, () => top),
    put: (key: string, staged: Staged) => top.put(key, staged.write.row as AnyRow | null, staged.before),
    /** Starts a new layer. */
    seal() {
      const sealed = top
      let below: TableReads = sealed
      top = layerOver(redirect(deep, () => below))
      return {
        staged: sealed.staged(),
        /** Removes the sealed layer. Called when the deep base has that layer's changes. */
        release: () => {
          below = deep
        },
      }
    },
  }
}

type Handing = DeepBatch & { readonly release: () => void }

/** Opens a front. Changes that are being written stay in a sealed layer, so that all reads are consistent. */
export function frontOver(deep: DeepBase): Front {
  const tables = new Map([...deep.tables].map(([name, reads]) => [name, openTable(reads)]))
  let records = deep.records()
  let waiting = 0
  /** Changes handed to the deep base, kept until it has written them. After a failure, the next flush tries again. */
  let handing: Handing | undefined

  function seal(reflects: number): Handing {
    const sealed = [...tables.values()].map((table) => table.seal())
    waiting = 0
    const release = () => {
      for (const one of sealed) one.release()
    }
    return { staged: sealed.flatMap(({ staged }) => staged), reflects, release }
  }

  return {
    tables: new Map([...tables].map(([name, { reads }]) => [name, reads])),
    records: () => records,
    waiting: () => waiting,
    apply(all) {
      for (const staged of all) {
        const { collection, key, row } = staged.write
        tables.get(collection)?.put(key, staged)
        records += (row === null ? 0 : 1) - (staged.before === undefined ? 0 : 1)
        waiting += 1
      }
    },
    async flush(reflects, ready) {
      handing ??= seal(reflects)
      const segments = await ready?.()
      await deep.write({ ...handing, segments }, handing.release)
      handing = undefined
    },
  }
}
