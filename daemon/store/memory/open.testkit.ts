import { compact } from '../../../src/core/record.ts'
import { type ChangeSink, createEngine } from '../engine/engine.ts'
import { type Base, createState, memoryBase } from '../engine/rows.ts'
import { encodeChange } from '../engine/tables.ts'
import type { AnyCollection, Store } from '../port.ts'

export type MemoryStoreOptions = {
  /** Freezes returned rows, so that tests find mutations (default: true). */
  readonly freeze?: boolean
  readonly watchdogMs?: number
  /** Wraps the base, so that tests can use a slower one. */
  readonly wrap?: (base: Base) => Base
}

/** The whole port in memory, for tests. Refuses rows that could not be stored on disk. */
export function openMemoryStore(collections: readonly AnyCollection[], options: MemoryStoreOptions = {}): Store {
  const state = createState(collections)
  const base = memoryBase(state)
  return createEngine({
    base: options.wrap?.(base) ?? base,
    seq: 0,
    freeze: options.freeze ?? true,
    ...compact({ watchdogMs: options.watchdogMs }),
    openSink: (deliver): ChangeSink => {
      let latest: Promise<void> = Promise.resolve()
      return {
        encode: (change) => encodeChange(state, change, 0),
        append({ change }) {
          latest = latest.then(() => deliver(change))
          return latest
        },
        durable: () => latest,
        failure: () => undefined,
        journalBytes: () => 0,
        syncs: () => 0,
        close: () => latest,
      }
    },
  })
}
