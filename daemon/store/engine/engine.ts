import { AsyncLocalStorage } from 'node:async_hooks'
import { StoreMisuse, StoreStopped } from '../errors.ts'
import { createMutex } from '../mutex.ts'
import type { AnyCollection, Change, Collection, Reader, ReadTx, Row, Store, Table, Tx } from '../port.ts'
import type { Base, TableReads } from './base.ts'
import { type Layer, layerOver } from './layer.ts'
import { createWatchdog, guardOf, openScope, type Scope, type ScopeGuard, settle, type Watchdog } from './scope.ts'
import { createTxTable } from './table.ts'
import { createReader } from './view.ts'

export const DEFAULT_WATCHDOG_MS = 10_000

/** One committed transaction on its way to the disk: the change, and its JSON without frame. */
export type EncodedChange = { readonly change: Change; readonly json: string }

/** Where committed transactions go. The engine applies an entry in the same turn in which it hands it over. */
export type ChangeSink = {
  /** Text of a change; throws when a row cannot be written, before anything is applied. */
  encode(change: Change): string
  /** Queues an entry; the promise resolves when it is durable. Entries become durable in order. */
  append(entry: EncodedChange): Promise<void>
  /** Resolves when everything appended so far is durable. */
  durable(): Promise<void>
  /** Why nothing more is accepted, once a write or sync has failed. */
  failure(): StoreStopped | undefined
  journalBytes(): number
  syncs(): number
  /** Lets everything appended become durable, then lets go of the disk. */
  close(): Promise<void>
}

export type EngineOptions = {
  readonly base: Base
  /** Number of the last transaction in `base`. */
  readonly seq: number
  /** @param deliver - to be called with each change in order, once it is durable. */
  readonly openSink: (deliver: (change: Change) => void) => ChangeSink
  /** How long a body may take to settle. */
  readonly watchdogMs?: number
  /** Freezes rows before they are handed out; for tests. */
  readonly freeze?: boolean
}

/** The engine that every store runs on. */
export type StoreEngine = Store & {
  /** Runs work of the engine itself, of any length, while no body is under way. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

type ReadsOf = (collection: AnyCollection) => TableReads

function txHandle(options: { guard: ScopeGuard; readsOf: ReadsOf; freeze: boolean }, layers: Layer[]): Tx {
  const tables = new Map<string, unknown>()
  return {
    table<R extends Row>(collection: Collection<R>): Table<R> {
      const known = tables.get(collection.name)
      if (known !== undefined) return known as Table<R>
      const layer = layerOver(options.readsOf(collection))
      const table = createTxTable<R>(layer, options.guard, options.freeze)
      layers.push(layer)
      tables.set(collection.name, table)
      return table
    },
  }
}

function readHandle(guard: ScopeGuard, readsOf: ReadsOf): ReadTx {
  return { table: <R extends Row>(collection: Collection<R>): Reader<R> => createReader<R>(readsOf(collection), guard) }
}

function listenerSet(): { add(listener: (change: Change) => void): () => void; tell(change: Change): void } {
  const listeners = new Set<(change: Change) => void>()
  return {
    add(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    tell: (change) => {
      for (const listener of listeners) tellOne(listener, change)
    },
  }
}

/** A listener that throws must neither stop the others nor fail a transaction that is durable: it surfaces uncaught. */
function tellOne(listener: (change: Change) => void, change: Change): void {
  try {
    listener(change)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

type Parts = {
  readonly mutex: ReturnType<typeof createMutex>
  readonly running: AsyncLocalStorage<Scope | undefined>
  /** @throws StoreStopped, StoreMisuse where nothing may begin */
  readonly enter: (call: string) => void
  /** Applies what was written. @returns when it is durable */
  readonly commit: (layers: readonly Layer[]) => Promise<void>
  readonly readsOf: ReadsOf
  readonly freeze: boolean
  readonly inTime: Watchdog
}

/** Bodies one at a time, each over what those before it left. */
function transactions(parts: Parts): Pick<StoreEngine, 'tx' | 'read'> {
  const { mutex, running, enter, commit, readsOf, freeze, inTime } = parts

  async function tx<T>(body: (t: Tx) => Promise<T>): Promise<T> {
    enter('tx')
    const done = await mutex.run(async () => {
      enter('tx')
      const scope = openScope()
      const layers: Layer[] = []
      const handle = txHandle({ guard: guardOf(scope), readsOf, freeze }, layers)
      const value = await settle(scope, running.run(scope, body, handle), inTime)
      // Wrapped, so that the mutex is free before the disk has answered.
      return { value, durable: commit(layers) }
    })
    await done.durable
    return done.value
  }

  async function read<T>(body: (t: ReadTx) => Promise<T>): Promise<T> {
    enter('read')
    return mutex.run(() => {
      enter('read')
      const scope = openScope()
      return settle(scope, running.run(scope, body, readHandle(guardOf(scope), readsOf)), inTime)
    })
  }

  return { tx, read }
}

export function createEngine(options: EngineOptions): StoreEngine {
  const { base, freeze = false, watchdogMs = DEFAULT_WATCHDOG_MS } = options
  const mutex = createMutex()
  const running = new AsyncLocalStorage<Scope | undefined>()
  const listeners = listenerSet()
  // Out of the caller's context: a listener is no part of the transaction that happened to trigger the flush.
  const sink = options.openSink((change) => running.run(undefined, listeners.tell, change))
  let seq = options.seq
  let isClosed = false

  const readsOf: ReadsOf = ({ name }) => {
    const table = base.tables.get(name)
    if (table === undefined) throw new StoreMisuse(`this store was opened without ${name}`)
    return table
  }

  function enter(call: string): void {
    const stopped = isClosed ? new StoreStopped('the store is closed') : sink.failure()
    if (stopped !== undefined) throw stopped
    if (running.getStore()?.open) throw new StoreMisuse(`${call} inside a tx or read body: use the handle it was given`)
  }

  function commit(layers: readonly Layer[]): Promise<void> {
    const staged = layers.flatMap((layer) => layer.staged())
    const writes = staged.map(({ write }) => write)
    // A body that wrote nothing may still have seen what is not durable yet.
    if (writes.length === 0) return sink.durable()
    const change: Change = { seq: seq + 1, writes }
    const durable = sink.append({ change, json: sink.encode(change) })
    seq += 1
    base.apply(staged)
    return durable
  }

  const inTime = createWatchdog(watchdogMs)
  const { tx, read } = transactions({ mutex, running, enter, commit, readsOf, freeze, inTime })

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    await mutex.run(() => sink.close())
  }

  const single: ScopeGuard = async (call) => {
    enter('a read outside the handle')
    return call()
  }

  return {
    tx,
    read,
    table: readHandle(single, readsOf).table,
    durable: () => sink.durable(),
    subscribe: listeners.add,
    stats: () => ({ seq, records: base.records(), journalBytes: sink.journalBytes(), syncs: sink.syncs() }),
    exclusive: mutex.run,
    close,
  }
}
