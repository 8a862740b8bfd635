import { z } from 'zod'
import { RowInvalid } from '../errors.ts'
import type { Scalar } from '../port.ts'
import type { AnyRow } from './order.ts'
import { conflict, findUnique, type RowIndex, type TableState, uniqueValues } from './state.ts'
import type { StoreView } from './view.ts'

/** What one transaction has done to one table and not yet committed. */
export type Staging = StoreView & {
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

/** What a row claims in a unique index, if anything. */
function claimIn(index: RowIndex, row: AnyRow | null | undefined): string | undefined {
  const values = row ? uniqueValues(index, row) : undefined
  return values === undefined ? undefined : claimOf(values)
}

export function createStaging(table: TableState): Staging {
  const overlay = new Map<string, AnyRow | null>()
  const uniques = table.uniques.map((index) => ({ index, claims: new Map<string, string>() }))
  const view: StoreView = { table, overlay }

  /** Key of the committed row with these values; a staged row speaks through its claims alone. */
  function committedOwner(index: RowIndex, values: readonly Scalar[]): string | undefined {
    const owner = findUnique(index, values)?.[table.collection.key] as string | undefined
    return owner === undefined || overlay.has(owner) ? undefined : owner
  }

  function assertFree(index: RowIndex, claims: ReadonlyMap<string, string>, entry: { key: string; row: AnyRow }): void {
    const values = uniqueValues(index, entry.row)
    if (values === undefined) return
    const claimed = claims.size === 0 ? undefined : claims.get(claimOf(values))
    const owner = claimed ?? committedOwner(index, values)
    if (owner !== undefined && owner !== entry.key) conflict(table, index.definition.name)
  }

  function stage(key: string, row: AnyRow | null): void {
    if (row !== null) for (const { index, claims } of uniques) assertFree(index, claims, { key, row })
    for (const unique of uniques) reclaim(unique, key, row)
    overlay.set(key, row)
  }

  function reclaim({ index, claims }: (typeof uniques)[number], key: string, row: AnyRow | null): void {
    const before = overlay.get(key)
    if (before) claims.delete(claimIn(index, before) ?? '')
    const fresh = claimIn(index, row)
    if (fresh !== undefined) claims.set(fresh, key)
  }

  return { ...view, overlay, held: new Set(), stage }
}

/**
 * Checks a row against its schema and drops absent members, which JSON would lose. What is the same in the row before
 * was checked then. @throws RowInvalid
 */
export function validated(table: TableState, row: AnyRow, before: AnyRow | undefined): AnyRow {
  const { schema, name, key } = table.collection
  const changed = before && validatedChange(schema, row, before)
  if (changed) return changed
  const parsed = (schema as z.ZodType<AnyRow>).safeParse(row)
  if (!parsed.success) throw new RowInvalid(name, String(row[key]), parsed.error)
  const clean = parsed.data as Record<string, unknown>
  for (const member in clean) if (clean[member] === undefined) delete clean[member]
  return parsed.data
}

/** Undefined where a member is gone, unknown or wrong, or the schema says more than its members do. */
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

/** Freezes a row and everything below it. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}
