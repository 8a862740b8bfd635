import type { AsyncLocalStorage } from 'node:async_hooks'
import { txHandle } from '../engine/engine.ts'
import { type Layer, layerOver } from '../engine/layer.ts'
import type { AnyRow } from '../engine/order.ts'
import type { Staged, TableReads } from '../engine/rows.ts'
import { guardOf, openScope, type Scope, settle, type Watchdog } from '../engine/scope.ts'
import { hasUniqueValues, keyOf, uniqueValues } from '../engine/tables.ts'
import { RowInvalid, StoreMisuse } from '../errors.ts'
import type { AnyCollection, Change, Tx } from '../port.ts'
import { type Connection, isLost } from './connection.ts'
import { lockedReads, type RowCache } from './reads.ts'
import type { PgTable } from './schema.ts'
import { deleteStatement, insertStatement, type Statement, updateStatement } from './statements.ts'

export type LaneBody = (t: Tx) => Promise<unknown>

/** Result of a body: its value and writes, or its error. */
export type BodyOutcome =
  | { readonly value: unknown; readonly change: Change | undefined }
  | { readonly error: unknown; readonly change?: undefined }

export type BatchParts = {
  readonly tables: ReadonlyMap<string, PgTable>
  readonly cache: RowCache
  readonly running: AsyncLocalStorage<Scope | undefined>
  readonly freeze: boolean
  readonly inTime: Watchdog
  /** Limits the first run of the bodies, which only collects what they read. */
  readonly inScoutTime: Watchdog
}

/** The writes of several bodies, which ran one after another. */
export type BodyBatch = {
  readonly outcomes: readonly BodyOutcome[]
  /** Number of the last transaction. */
  readonly seq: number
  /** Net change in the number of rows. */
  readonly grown: number
  /** Statements that write all changed rows. */
  readonly statements: readonly Statement[]
  /** Changes with their rows as JSON. */
  readonly feed: () => string
}

/** JSON of rows; each is made once, right after its body. */
type Docs = WeakMap<object, string>

/** Runs bodies on the rows that were committed when the lock was taken. @throws what made the session useless */
export async function runBodies(
  bodies: readonly LaneBody[],
  { connection, seq, parts }: { readonly connection: Connection; readonly seq: number; readonly parts: BatchParts },
): Promise<BodyBatch> {
  const { tables, cache } = parts
  const committed = perTable(tables, (table) =>
    lockedReads(table, ([text, values]) => connection.query(text, values), cache),
  )
  // Bodies that run at once ask at once: together they wait for the server as long as the slowest of them would.
  if (bodies.length > 1)
    await Promise.allSettled(bodies.map((body) => runBody(body, committed, { ...parts, inTime: parts.inScoutTime })))
  const layers = new Map<string, Layer>()
  const batch = (collection: AnyCollection): Layer => {
    const known = layers.get(collection.name) ?? layerOver(committed(collection))
    layers.set(collection.name, known)
    return known
  }
  const docs: Docs = new WeakMap()
  const outcomes: BodyOutcome[] = []
  let last = seq
  for (const body of bodies) {
    const outcome = await outcomeOf(body, { batch, parts, docs, seq: last + 1 })
    if (outcome.change !== undefined) last = outcome.change.seq
    outcomes.push(outcome)
  }
  const staged = [...layers.values()].map((layer) => [layer, layer.staged()] as const)
  return {
    outcomes,
    seq: last,
    grown: staged.flatMap(([, all]) => all).reduce((sum, one) => sum + grownBy(one), 0),
    statements: staged.flatMap(([{ shape }, all]) =>
      writesOf(tables.get(shape.collection.name) as PgTable, all, (row) => docs.get(row) as string),
    ),
    feed: () => feedOf(outcomes, docs),
  }
}

/** Makes something once for each table. @throws StoreMisuse for a collection that the store does not have */
export function perTable<T>(tables: ReadonlyMap<string, PgTable>, make: (table: PgTable) => T) {
  const made = new Map<string, T>()
  return ({ name }: AnyCollection): T => {
    const table = tables.get(name)
    if (table === undefined) throw new StoreMisuse(`this store was opened without ${name}`)
    const known = made.get(name) ?? make(table)
    made.set(name, known)
    return known
  }
}

async function runBody(body: LaneBody, readsOf: (collection: AnyCollection) => TableReads, parts: BatchParts) {
  const scope = openScope()
  const layers: Layer[] = []
  const handle = txHandle({ guard: guardOf(scope), readsOf, freeze: parts.freeze }, layers)
  const value = await settle(scope, parts.running.run(scope, body, handle), parts.inTime)
  return { value, layers }
}

type RunParts = {
  readonly batch: (collection: AnyCollection) => Layer
  readonly parts: BatchParts
  readonly docs: Docs
  readonly seq: number
}

async function outcomeOf(body: LaneBody, { batch, parts, docs, seq }: RunParts): Promise<BodyOutcome> {
  try {
    const { value, layers } = await runBody(body, batch, parts)
    const staged = layers.map((layer) => [batch(layer.shape.collection), layer.staged()] as const)
    for (const [{ shape }, all] of staged) for (const { write } of all) encode(shape, write.row as AnyRow | null, docs)
    for (const [layer, all] of staged)
      for (const { write, before } of all) layer.put(write.key, write.row as AnyRow | null, before)
    const writes = staged.flatMap(([, all]) => all.map(({ write }) => write))
    return { value, change: writes.length === 0 ? undefined : { seq, writes } }
  } catch (error) {
    // After an error of the server, its transaction accepts nothing more.
    if (isLost(error) || (error instanceof Error && 'severity' in error)) throw error
    return { error }
  }
}

function encode(shape: TableReads['shape'], row: AnyRow | null, docs: Docs): void {
  if (row === null) return
  try {
    docs.set(row, JSON.stringify(shape.codec.toJson(row)))
  } catch (error) {
    // A bigint outside the schema (z.custom, z.unknown) could not be restored.
    throw new RowInvalid(shape.collection.name, keyOf(shape, row), error)
  }
}

function grownBy({ write: { row }, before }: Staged): number {
  return Number(row !== null) - Number(before !== undefined)
}

/** Statements in an order in which a unique value is free before another row takes it. */
function writesOf(table: PgTable, staged: readonly Staged[], docOf: (row: AnyRow) => string): Statement[] {
  const { uniques } = table.shape
  const isMoved = ({ write: { row }, before }: Staged): boolean =>
    row !== null && before !== undefined && uniques.some((index) => leaves(index, before, row as AnyRow))
  const removed = staged.filter((one) => one.before !== undefined && (one.write.row === null || isMoved(one)))
  const left = staged.filter(({ write }) => write.row !== null)
  const [inserted, updated] = [true, false].map((isNew) =>
    left.filter((one) => (one.before === undefined || isMoved(one)) === isNew).map(({ write }) => write.row as AnyRow),
  ) as [AnyRow[], AnyRow[]]
  const keys = removed.map(({ write }) => write.key)
  return [
    ...(keys.length > 0 ? [deleteStatement(table, keys)] : []),
    ...(updated.length > 0 ? [updateStatement(table, updated, docOf)] : []),
    ...(inserted.length > 0 ? [insertStatement(table, inserted, docOf)] : []),
  ]
}

/** Whether a row gives up or changes its values in a unique index. */
function leaves(index: Parameters<typeof uniqueValues>[0], before: AnyRow, row: AnyRow): boolean {
  const values = uniqueValues(index, row)
  return values === undefined ? uniqueValues(index, before) !== undefined : !hasUniqueValues(index, before, values)
}

/** `[[seq, [[collection, key, row or null], …]], …]` */
function feedOf(outcomes: readonly BodyOutcome[], docs: Docs): string {
  const changes = outcomes.flatMap(({ change }) => change ?? [])
  return `[${changes
    .map(({ seq, writes }) => {
      const list = writes.map(
        ({ collection, key, row }) =>
          `[${JSON.stringify(collection)},${JSON.stringify(key)},${row === null ? 'null' : docs.get(row)}]`,
      )
      return `[${seq},[${list.join(',')}]]`
    })
    .join(',')}]`
}
