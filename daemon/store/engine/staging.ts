import type { z } from 'zod'
import { RowInvalid } from '../errors.ts'
import type { Scalar } from '../port.ts'
import type { AnyRow } from './order.ts'
import { conflict, findUnique, type RowIndex, type TableState, uniqueValues } from './state.ts'
import type { View } from './view.ts'

/** What one transaction has done to one table and not yet committed. */
export type Staging = View & {
  readonly overlay: Map<string, AnyRow | null>
  /** Keys this transaction may `put`: looked up for update, or written by it. */
  readonly held: Set<string>
  stage(key: string, row: AnyRow | null): void
}

/** Text under which a tuple of a unique index is claimed; bigints and strings stay apart. */
function claimOf(values: readonly Scalar[]): string {
  return JSON.stringify(values, (_name, value: unknown) =>
    typeof value === 'bigint' ? { micro: value.toString() } : value,
  )
}

export function createStaging(table: TableState): Staging {
  const overlay = new Map<string, AnyRow | null>()
  const uniques = [...table.indexes.values()]
    .filter((index) => index.definition.unique === true)
    .map((index) => ({ index, claims: new Map<string, string>() }))
  const view: View = { table, overlay }

  function assertFree(index: RowIndex, claims: ReadonlyMap<string, string>, entry: { key: string; row: AnyRow }): void {
    const values = uniqueValues(index, entry.row)
    if (values === undefined) return
    const staged = claims.get(claimOf(values))
    if (staged !== undefined && staged !== entry.key) conflict(table, index.definition.name)
    const committed = findUnique(index, values)
    const owner = committed?.[table.collection.key] as string | undefined
    if (owner !== undefined && owner !== entry.key && !overlay.has(owner)) conflict(table, index.definition.name)
  }

  function stage(key: string, row: AnyRow | null): void {
    if (row !== null) for (const { index, claims } of uniques) assertFree(index, claims, { key, row })
    const before = overlay.get(key)
    for (const { index, claims } of uniques) {
      const old = before ? uniqueValues(index, before) : undefined
      if (old !== undefined) claims.delete(claimOf(old))
      const fresh = row === null ? undefined : uniqueValues(index, row)
      if (fresh !== undefined) claims.set(claimOf(fresh), key)
    }
    overlay.set(key, row)
  }

  return { ...view, overlay, held: new Set(), stage }
}

/** Checks a row against its schema and drops absent members, which JSON would lose. @throws RowInvalid */
export function validated(table: TableState, row: AnyRow): AnyRow {
  const { schema, name, key } = table.collection
  const parsed = (schema as z.ZodType<AnyRow>).safeParse(row)
  if (!parsed.success) throw new RowInvalid(name, String(row[key]), parsed.error)
  const clean = parsed.data as Record<string, unknown>
  for (const member in clean) if (clean[member] === undefined) delete clean[member]
  return parsed.data
}

/** Freezes a row and everything below it. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}
