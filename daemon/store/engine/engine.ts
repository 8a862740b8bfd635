import { AsyncLocalStorage } from 'node:async_hooks'
import { StoreMisuse, StoreStopped } from '../errors.ts'
import type { AnyCollection, Change, Collection, Reader, ReadTx, Row, Store, Table, Tx } from '../port.ts'
import { createMutex } from './mutex.ts'
import type { AnyRow } from './order.ts'
import { createStaging, type Staging } from './staging.ts'
import { countRecords, type State, type TableState } from './state.ts'
import { createTxTable, type Guard } from './table.ts'
import { createReader } from './view.ts'

export const DEFAULT_WATCHDOG_MS = 10_000

/** One committed transaction on its way to the disk. */
export type Entry = { readonly change: Change; readonly line: string }

/** Where committed transactions go. The engine has applied an entry when it hands it over. */
export type Sink = {
  /** Text of a change; throws when a row cannot be written, before anything is applied. */
  encode(change: Change): string
  /** Queues an entry; the promise resolves when it is durable. Entries become durable in order. */
  append(entry: Entry): Promise<void>
  /** Resolves when everything appended so far is durable. */
  durable(): Promise<void>
  journalBytes(): number
  /** Lets everything appended become durable, then lets go of the disk. */
  close(): Promise<void>
}

export type EngineOptions = {
  readonly state: State
  /** Number of the last transaction in `state`. */
  readonly seq: number
  /** @param deliver - to be called with each change in order, once it is durable. */
  readonly openSink: (deliver: (change: Change) => void) => Sink
  /** How long a body may take to settle. */
  readonly watchdogMs?: number
  /** Freezes rows before they are handed out; for tests. */
  readonly freeze?: boolean
}

type Scope = { open: boolean; failure: { readonly error: unknown } | undefined }

/** The engine that both the memory store and the journal store run on. */
export type Engine = Store & {
  /** Runs a body when no transaction is under way; the port's rules for bodies do not apply to it. */
  exclusive<T>(body: () => Promise<T>): Promise<T>
}

export function createEngine(options: EngineOptions): Engine {
  const { state, freeze = false, watchdogMs = DEFAULT_WATCHDOG_MS } = options
  const mutex = createMutex()
  const running = new AsyncLocalStorage<Scope | undefined>()
  const listeners = new Set<(change: Change) => void>()
  const sink = options.openSink(deliver)
  let seq = options.seq
  let isClosed = false

  function deliver(change: Change): void {
    // Out of the caller's context: a listener is never part of the transaction that happened to trigger the flush.
    running.run(undefined, () => {
      for (const listener of listeners) listener(change)
    })
  }

  function tableOf(collection: AnyCollection): TableState {
    const table = state.get(collection.name)
    if (table === undefined) throw new StoreMisuse(`this store was opened without ${collection.name}`)
    return table
  }

  function enter(call: string): void {
    if (isClosed) throw new StoreStopped('the store is closed')
    if (running.getStore()?.open === true)
      throw new StoreMisuse(`${call} inside a tx or read body: use the handle it was given`)
  }

  /** Runs a body under the mutex and the watchdog; the scope is used up when this returns. */
  async function runBody<T>(scope: Scope, body: () => Promise<T>): Promise<T> {
    try {
      const value = await withinMs(watchdogMs, running.run(scope, body))
      if (scope.failure !== undefined) throw scope.failure.error
      return value
    } finally {
      scope.open = false
    }
  }

  async function tx<T>(body: (t: Tx) => Promise<T>): Promise<T> {
    enter('tx')
    const { value, durable } = await mutex.run(async () => {
      if (isClosed) throw new StoreStopped('the store is closed')
      const scope: Scope = { open: true, failure: undefined }
      const staged = new Map<string, Staging>()
      const value = await runBody(scope, () => body(txHandle(scope, staged)))
      // A body that wrote nothing may still have seen what is not durable yet.
      return { value, durable: commit(staged) ?? sink.durable() }
    })
    await durable
    return value
  }

  function txHandle(scope: Scope, staged: Map<string, Staging>): Tx {
    const guard = guardOf(scope)
    const tables = new Map<string, Table<Row>>()
    return {
      table<R extends Row>(collection: Collection<R>): Table<R> {
        const known = tables.get(collection.name)
        if (known !== undefined) return known as unknown as Table<R> // one handle a name, made for this very collection
        const staging = createStaging(tableOf(collection))
        staged.set(collection.name, staging)
        const table = createTxTable<R>(staging, guard, freeze)
        tables.set(collection.name, table as unknown as Table<Row>) // kept without its row type, see above
        return table
      },
    }
  }

  function commit(staged: ReadonlyMap<string, Staging>): Promise<void> | undefined {
    const writes: { collection: string; key: string; row: AnyRow | null }[] = []
    for (const [collection, { overlay, table }] of staged) {
      for (const [key, row] of overlay) if (row !== null || table.rows.has(key)) writes.push({ collection, key, row })
    }
    if (writes.length === 0) return undefined
    const change: Change = { seq: seq + 1, writes }
    const line = sink.encode(change)
    const durable = sink.append({ change, line })
    seq += 1
    for (const { collection, key, row } of writes) state.get(collection)?.apply(key, row)
    return durable
  }

  async function read<T>(body: (t: ReadTx) => Promise<T>): Promise<T> {
    enter('read')
    return mutex.run(async () => {
      const scope: Scope = { open: true, failure: undefined }
      const guard = guardOf(scope)
      const handle: ReadTx = {
        table: <R extends Row>(collection: Collection<R>) =>
          createReader<R>({ table: tableOf(collection), overlay: undefined }, guard),
      }
      return runBody(scope, () => body(handle))
    })
  }

  const single: Guard = async (call) => {
    enter('a read outside the handle')
    return call()
  }

  return {
    tx,
    read,
    table: <R extends Row>(collection: Collection<R>): Reader<R> =>
      createReader<R>({ table: tableOf(collection), overlay: undefined }, single),
    durable: () => sink.durable(),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stats: () => ({ seq, records: countRecords(state), journalBytes: sink.journalBytes() }),
    exclusive: (body) => mutex.run(body),
    async close() {
      if (isClosed) return
      isClosed = true
      await mutex.run(() => sink.close())
    },
  }
}

/** Calls of a handle: refused after its end; the first failure fails the whole body, caught or not. */
function guardOf(scope: Scope): Guard {
  return async (call) => {
    if (!scope.open) throw new StoreMisuse('this handle is used up: its tx or read has ended')
    if (scope.failure !== undefined) throw scope.failure.error
    try {
      return call()
    } catch (error) {
      scope.failure = { error }
      throw error
    }
  }
}

/** @throws StoreMisuse when the body has not settled in time; it would block every writer. */
async function withinMs<T>(ms: number, body: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StoreMisuse(`a tx or read body did not settle within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([body, late])
  } finally {
    clearTimeout(timer)
  }
}
