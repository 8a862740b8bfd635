import type { Base, Staged, TableReads } from './base.ts'
import { layerOver } from './layer.ts'
import type { AnyRow } from './order.ts'

/** Permanent storage behind the front; gets the rows of many transactions in one batch. */
export type DeepBase = Pick<Base, 'tables' | 'records'> & {
  /**
   * Takes in all of a batch or nothing, durably. Reads find none of it until `taken` is called, and all of it from then
   * on: who counts what lies over these rows must never find a row twice.
   */
  write(batch: DeepBatch, taken: () => void): Promise<void>
}

/** What was done up to a transaction since the batch before. */
export type DeepBatch = { readonly staged: readonly Staged[]; readonly reflects: number }

/** A base in memory over a deep one: it holds what the deep one has not taken yet. */
export type Front = Base & {
  /** Changes that were not handed over yet. */
  waiting(): number
  /** Hands over what was applied so far, or once more what was refused; later changes gather meanwhile. One at a time. */
  flush(reflects: number): Promise<void>
}

/** Reads of whatever stands for a table at the moment of each call. */
function redirect(deep: TableReads, now: () => TableReads): TableReads {
  return {
    shape: deep.shape,
    rows: (keys) => now().rows(keys),
    page: (slice) => now().page(slice),
    count: (index, prefix) => now().count(index, prefix),
    unique: (index, values) => now().unique(index, values),
  }
}

/** What gathers for one table, over what is being handed over, over the deep rows. */
function openTable(deep: TableReads) {
  let top = layerOver(deep)
  return {
    reads: redirect(deep, () => top),
    put: (key: string, staged: Staged) => top.put(key, staged.write.row as AnyRow | null, staged.before),
    /** Lets changes gather anew, over those so far. */
    seal() {
      const sealed = top
      let below: TableReads = sealed
      top = layerOver(redirect(deep, () => below))
      return {
        staged: sealed.staged(),
        /** The deep rows hold all of it. */
        release: () => {
          below = deep
        },
      }
    },
  }
}

type Handing = DeepBatch & { readonly release: () => void }

/**
 * A layer that is sealed is not changed any more, nor taken away from reads that began over it: so each read sees one
 * moment, however long the deep rows take.
 */
export function frontOver(deep: DeepBase): Front {
  const tables = new Map([...deep.tables].map(([name, reads]) => [name, openTable(reads)]))
  let records = deep.records()
  let waiting = 0
  /** What the deep base has not taken although it was handed over: it is handed over again. */
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
    async flush(reflects) {
      handing ??= seal(reflects)
      await deep.write(handing, handing.release)
      handing = undefined
    },
  }
}
