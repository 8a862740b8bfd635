import { z } from 'zod'
import { RowInvalid } from '../errors.ts'
import type { AnyRow } from './order.ts'
import type { TableShape } from './tables.ts'

/** Validates a row and drops absent members. Unchanged members were checked before. @throws RowInvalid */
export function validated({ collection }: TableShape, row: AnyRow, before: AnyRow | undefined): AnyRow {
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

export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) freezeDeep(inner)
  return Object.freeze(value)
}
