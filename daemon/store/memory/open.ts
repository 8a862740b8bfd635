import { compact } from '../../../src/core/record.ts'
import type { Base } from '../engine/base.ts'
import { type ChangeSink, createEngine } from '../engine/engine.ts'
import { createState, memoryBase } from '../engine/rows.ts'
import { encodeChange } from '../engine/tables.ts'
import type { AnyCollection, Store } from '../port.ts'

export type MemoryStoreOptions = {
  /** Freezes rows before they are handed out, so that a test finds whoever changes one. Default true. */
  readonly freeze?: boolean
  readonly watchdogMs?: number
  /** Puts something between the engine and the rows; for tests of slower bases. */
  readonly wrap?: (base: Base) => Base
}

/** The whole port in memory, nothing kept: for tests and `souk try`. Refuses what a disk could not hold. */
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
