import type { AnyRow } from '../engine/order.ts'
import type { Slice, TableReads } from '../engine/rows.ts'
import { keyOf, type RowIndex } from '../engine/tables.ts'
import type { Scalar } from '../port.ts'
import type { PgRow } from './connection.ts'
import type { PgTable } from './schema.ts'
import { countStatement, pageStatement, rowsStatement, type Statement, uniqueStatement } from './statements.ts'

/** Runs a read. */
export type AskRows = (statement: Statement) => Promise<readonly PgRow[]>

/** Reads of one table by statements. */
export function pgReads(table: PgTable, ask: AskRows): TableReads {
  const { shape } = table
  const parsed = ({ doc }: PgRow): AnyRow => shape.codec.fromJson(doc as AnyRow)
  return {
    shape,
    async rows(keys) {
      if (keys.length === 0) return []
      const found = await ask(rowsStatement(table, keys))
      const rows = new Map(found.map(parsed).map((row) => [keyOf(shape, row), row]))
      return keys.map((key) => rows.get(key))
    },
    page: async (slice) => (await ask(pageStatement(table, slice))).map(parsed),
    count: async (index, prefix) => Number((await ask(countStatement(table, index, prefix)))[0]?.n),
    unique: async (index, values) => (await ask(uniqueStatement(table, index, values))).map(parsed)[0],
  }
}

/** Keys of one statement, unless a single call has more. */
export const MAX_GATHERED_KEYS = 1_000

/** Reads in which calls of one turn of the event loop ask for their rows together: a list reads what belongs to it at once. */
export function gatheredReads(reads: TableReads): TableReads {
  let turn: ReturnType<typeof begin> | undefined

  function begin() {
    const keys = new Set<string>()
    async function read(): Promise<ReadonlyMap<string, AnyRow | undefined>> {
      // After all promises of this turn, so that continuations of many calls ask together again.
      await Promise.resolve()
      await new Promise<void>((resolve) => process.nextTick(resolve))
      if (turn?.keys === keys) turn = undefined
      const asked = [...keys]
      const rows = await reads.rows(asked)
      return new Map(asked.map((key, n) => [key, rows[n]]))
    }
    return { keys, rows: read() }
  }

  return {
    ...reads,
    async rows(keys) {
      if (turn === undefined || turn.keys.size + keys.length > MAX_GATHERED_KEYS) turn = begin()
      for (const key of keys) turn.keys.add(key)
      const found = await turn.rows
      return keys.map((key) => found.get(key))
    },
  }
}

/** Committed rows that are known, by collection and key; null where there is none. */
export type RowCache = {
  get(collection: string, key: string): AnyRow | null | undefined
  put(collection: string, key: string, row: AnyRow | null): void
  clear(): void
}

export function createRowCache(maxRows: number): RowCache {
  const tables = new Map<string, Map<string, AnyRow | null>>()
  let count = 0
  function clear(): void {
    tables.clear()
    count = 0
  }
  return {
    clear,
    get: (collection, key) => tables.get(collection)?.get(key),
    put(collection, key, row) {
      if (count >= maxRows) clear()
      const rows = tables.get(collection) ?? new Map<string, AnyRow | null>()
      tables.set(collection, rows)
      if (!rows.has(key)) count += 1
      rows.set(key, row)
    },
  }
}

/** Reads of committed rows under the lock, during which they cannot change: nothing is asked twice. */
export function lockedReads(table: PgTable, ask: AskRows, cache: RowCache): TableReads {
  const below = pgReads(table, ask)
  const { name } = table.shape.collection
  const answers = new Map<string, Promise<unknown>>()

  function once<T>(id: string, read: () => Promise<T>): Promise<T> {
    const known = answers.get(id) as Promise<T> | undefined
    const answer = known ?? read()
    answers.set(id, answer)
    return answer
  }

  async function fetched(keys: readonly string[]): Promise<readonly (AnyRow | undefined)[]> {
    const found = await below.rows(keys)
    for (const [n, key] of keys.entries()) cache.put(name, key, found[n] ?? null)
    return found
  }

  return {
    shape: below.shape,
    rows(keys) {
      const known = keys.map((key) => cache.get(name, key))
      if (!known.includes(undefined)) return known.map((row) => row ?? undefined)
      return once(idOf('rows', keys), () => fetched(keys))
    },
    page: ({ index, ...slice }) =>
      once(idOf('page', [index.definition.name, slice]), async () => below.page({ index, ...slice } as Slice)),
    count: (index, prefix) => once(askedOf('count', index, prefix), async () => below.count(index, prefix)),
    unique: (index, values) => once(askedOf('unique', index, values), async () => below.unique(index, values)),
  }
}

const askedOf = (call: string, { definition }: RowIndex, values: readonly Scalar[]): string =>
  idOf(call, [definition.name, values])

function idOf(call: string, asked: unknown): string {
  return JSON.stringify([call, asked], (_, value) => (typeof value === 'bigint' ? [String(value)] : value))
}
