import { AsyncLocalStorage } from 'node:async_hooks'
import { z } from 'zod'
import { RowInvalid, RowMissing, StoreMisuse, StoreStopped } from '../errors.ts'
import { createMutex } from '../mutex.ts'
import type { AnyCollection, Change, Collection, Reader, ReadTx, Row, Store, Table, Tx } from '../port.ts'
import { type Layer, layerOver } from './layer.ts'
import type { AnyRow } from './order.ts'
import { type Awaitable, type Base, chain, type TableReads } from './rows.ts'
import { createWatchdog, guardOf, openScope, type Scope, type ScopeGuard, settle, type Watchdog } from './scope.ts'
import { conflict, hasUniqueValues, keyOf, type TableShape, uniqueValues } from './tables.ts'
import { createReader, readRow } from './view.ts'

export const DEFAULT_WATCHDOG_MS = 10_000

export type EncodedChange = { readonly change: Change; readonly json: string }

/** Receives committed transactions. The engine applies each one to its rows in the event loop turn that appends it. */
export type ChangeSink = {
  /** Serialises a change; throws before anything is applied. */
  encode(change: Change): string
  /** Queues an entry. Resolves when the entry is durable. Entries become durable in order. */
  append(entry: EncodedChange): Promise<void>
  /** Resolves when all earlier entries are durable. */
  durable(): Promise<void>
  /** The failed write or sync after which the store accepts nothing more. */
  failure(): StoreStopped | undefined
  journalBytes(): number
  syncs(): number
  /** Waits for durability, then closes the files. */
  close(): Promise<void>
}

export type EngineOptions = {
  readonly base: Base
  /** Last transaction in `base`. */
  readonly seq: number
  /** @param deliver - called with each durable change in order */
  readonly openSink: (deliver: (change: Change) => void) => ChangeSink
  /** Time limit of a transaction body. */
  readonly watchdogMs?: number
  readonly freeze?: boolean
}

export type StoreEngine = Store & {
  /** Runs `work` while no transaction body runs. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export type ReadsOf = (collection: AnyCollection) => TableReads

/** Handle of a transaction body. @param layers - receives the layer of each table that the body uses */
export function txHandle(options: { guard: ScopeGuard; readsOf: ReadsOf; freeze: boolean }, layers: Layer[]): Tx {
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

export function readHandle(guard: ScopeGuard, readsOf: ReadsOf): ReadTx {
  return { table: <R extends Row>(collection: Collection<R>): Reader<R> => createReader<R>(readsOf(collection), guard) }
}

export function listenerSet(): { add(listener: (change: Change) => void): () => void; tell(change: Change): void } {
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

/** Calls a listener. Its error surfaces as uncaught and affects neither other listeners nor the transaction. */
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
  /** @throws StoreStopped, StoreMisuse when nothing may start */
  readonly enter: (call: string) => void
  /** Applies writes; resolves when they are durable. */
  readonly commit: (layers: readonly Layer[]) => Promise<void>
  readonly readsOf: ReadsOf
  readonly freeze: boolean
  readonly inTime: Watchdog
}

/** Runs transaction bodies one at a time. */
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
      // The promise is wrapped in an object, so that the mutex is free before the disk answers.
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
  // Call listeners outside the writer's async context, because they are not part of its transaction.
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
    if (running.getStore()?.open) throw new StoreMisuse(`${call} inside a tx or read body: use the handle of that body`)
  }

  function commit(layers: readonly Layer[]): Promise<void> {
    const staged = layers.flatMap((layer) => layer.staged())
    const writes = staged.map(({ write }) => write)
    // A read-only body may have seen data that is not durable yet.
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

/** Validates a row and drops absent members. Unchanged members were checked before. @throws RowInvalid */
function validated({ collection }: TableShape, row: AnyRow, before: AnyRow | undefined): AnyRow {
  const { schema, name, key } = collection
  const changed = before && validatedChange(schema, row, before)
  if (changed) return changed
  const parsed = (schema as z.ZodType<AnyRow>).safeParse(row)
  if (!parsed.success) throw new RowInvalid(name, String(row[key]), parsed.error)
  const clean = parsed.data as Record<string, unknown>
  for (const member in clean) if (clean[member] === undefined) delete clean[member]
  return parsed.data
}

/** Validates only changed members. Undefined if one is missing, unknown or invalid, or if the schema has `checks`. */
function validatedChange(schema: z.ZodType, row: AnyRow, before: AnyRow): AnyRow | undefined {
  if (!(schema instanceof z.ZodObject) || schema.def.checks?.length) return undefined
  const clean: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(schema.shape as Readonly<Record<string, z.ZodType>>)) {
    const value = row[name] === before[name] ? row[name] : member.safeParse(row[name]).data
    if (value !== undefined) clean[name] = value
    else if (row[name] !== before[name]) return undefined
  }
  return Object.keys(clean).length === Object.keys(row).length ? (clean as AnyRow) : undefined
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}

type Members = Readonly<Record<string, unknown>>

/** @throws Conflict when unique values are taken; unchanged ones are the row's own */
function assertFree(layer: Layer, row: AnyRow, current: AnyRow | undefined): Awaitable<void> {
  const { shape } = layer
  const key = keyOf(shape, row)
  return shape.uniques.reduce<Awaitable<void>>((checked, index) => {
    const values = uniqueValues(index, row)
    if (values === undefined || (current && hasUniqueValues(index, current, values))) return checked
    const owner = chain(checked, () => layer.unique(index, values))
    return chain(owner, (found) => {
      if (found !== undefined && keyOf(shape, found) !== key) conflict(shape, index.definition.name)
    })
  }, undefined)
}

function add(row: AnyRow, field: string, by: bigint | number): bigint | number {
  const current = row[field]
  if (typeof current === 'bigint' && typeof by === 'bigint') return current + by
  if (typeof current === 'number' && typeof by === 'number') return current + by
  throw new StoreMisuse(`cannot add a ${typeof by} to ${field}, a ${typeof current}`)
}

/** Keys that may be `put`, because the transaction read them for update or wrote them. */
type Held = Set<string>

/** Writes rows with their next version and returns them. */
function rowWriter(layer: Layer, held: Held, freeze: boolean) {
  const { shape } = layer
  const { name, key: keyField } = shape.collection
  return (draft: Members, current: AnyRow | undefined): Awaitable<AnyRow> => {
    const key = draft[keyField]
    if (typeof key !== 'string' || key === '') throw new StoreMisuse(`${name}: a row has no key`)
    const row = validated(shape, { ...draft, version: (current?.version ?? 0) + 1 }, current)
    if (keyOf(shape, row) !== key) throw new StoreMisuse(`${name}: the schema changes the key ${key}`)
    return chain(assertFree(layer, row, current), () => {
      layer.put(key, freeze ? freezeDeep(row) : row, current)
      held.add(key)
      return row
    })
  }
}

/** Table handle of a transaction (port.ts). */
function createTxTable<R extends Row>(layer: Layer, guard: ScopeGuard, freeze: boolean): Table<R> {
  const { shape } = layer
  const { name, key: keyField } = shape.collection
  const held: Held = new Set()
  const write = rowWriter(layer, held, freeze)
  const save = (draft: Members, current: AnyRow | undefined) => write(draft, current) as Awaitable<Row> as Awaitable<R>
  const find = (key: string): Awaitable<AnyRow | undefined> => readRow(layer, key)

  const change = (key: string, next: (row: AnyRow | undefined) => Members): Promise<R> =>
    guard(() => chain(find(key), (row) => save(next(row), row)))

  function remove(row: AnyRow | undefined, key: string): boolean {
    if (row !== undefined) layer.put(key, null, row)
    held.add(key)
    return row !== undefined
  }

  const keyIn = (draft: Members): string => String(draft[keyField])

  return {
    ...createReader<R>(layer, guard),
    getForUpdate: (key) =>
      guard(() => {
        held.add(key)
        return find(key) as Awaitable<R | undefined>
      }),
    insert: (draft) =>
      guard(() => chain(find(keyIn(draft)), (row) => (row ? conflict(shape, keyField) : save(draft, undefined)))),
    insertIfAbsent: (draft) =>
      guard(() => chain(find(keyIn(draft)), (row) => (row ? false : chain(save(draft, undefined), () => true)))),
    put: (draft) =>
      change(keyIn(draft), () => {
        if (!held.has(keyIn(draft))) throw new StoreMisuse(`${name}: put ${keyIn(draft)} without getForUpdate`)
        return draft
      }),
    update: (key, version, patch) =>
      change(key, (row) => {
        if (row === undefined || row.version !== version) conflict(shape, 'version')
        const patched = { ...row, ...patch }
        if (keyIn(patched) !== key) throw new StoreMisuse(`${name}: a patch changes the key ${key}`)
        return patched
      }),
    increment: (key, field, by) =>
      change(key, (row) => {
        if (row === undefined) throw new RowMissing(name, key)
        return { ...row, [field]: add(row, field, by) }
      }),
    delete: (key) => guard(() => chain(find(key), (row) => remove(row, key))),
  }
}
