import { invalidField } from '../../../src/core/error.ts'
import type { Row, Scalar } from '../port.ts'

export type AnyRow = Row & { readonly [member: string]: unknown }

/** Place in an index: leading fields, and the key for a single row. */
export type IndexPlace = { readonly values: readonly Scalar[]; readonly key?: string }

const typeRanks: Readonly<Record<string, number>> = { boolean: 1, number: 2, bigint: 2, string: 3 }

function rankOf(value: Scalar): number {
  if (value === null) return 0
  const rank = typeRanks[typeof value]
  if (rank === undefined) throw new TypeError(`a ${typeof value} cannot be indexed`)
  return rank
}

/** Total order: null, booleans, numbers and bigints by value, strings by UTF-16 unit. */
export function compareScalars(a: Scalar, b: Scalar): number {
  if (a === b) return 0
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : 1
  const byType = rankOf(a) - rankOf(b)
  if (byType !== 0) return byType
  if (a === null || b === null) return 0
  if (a < b) return -1
  return a > b ? 1 : 0
}

/** Value of an indexed member; null if absent. */
export function indexedValue(row: AnyRow, field: string): Scalar {
  return (row[field] ?? null) as Scalar
}

/** Order of an index: its fields, then the key. */
export function rowComparer(fields: readonly string[], key: string): (a: AnyRow, b: AnyRow) => number {
  return (a, b) => {
    for (const field of fields) {
      const order = compareScalars(indexedValue(a, field), indexedValue(b, field))
      if (order !== 0) return order
    }
    return compareScalars(indexedValue(a, key), indexedValue(b, key))
  }
}

/** Compares a row with a place; 0 if the row matches the place. */
export function placeComparer(fields: readonly string[], key: string): (row: AnyRow, place: IndexPlace) => number {
  return (row, place) => {
    for (let i = 0; i < place.values.length; i += 1) {
      const order = compareScalars(indexedValue(row, fields[i] ?? key), place.values[i] ?? null)
      if (order !== 0) return order
    }
    return place.key === undefined ? 0 : compareScalars(indexedValue(row, key), place.key)
  }
}

type WireScalar = string | number | boolean | null | readonly [string]

function toWire(value: Scalar): WireScalar {
  return typeof value === 'bigint' ? [value.toString()] : value
}

function fromWire(value: unknown): Scalar {
  if (Array.isArray(value)) return BigInt(String(value[0]))
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  throw new TypeError('not a scalar')
}

/** Opaque cursor of a row in an index. */
export function encodeCursor(index: string, place: Required<IndexPlace>): string {
  return Buffer.from(JSON.stringify([index, place.key, ...place.values.map(toWire)])).toString('base64url')
}

/** @throws AppError invalid_request when it is not a cursor of this index */
export function decodeCursor(index: string, fieldCount: number, cursor: string): Required<IndexPlace> {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(parts) || parts.length !== fieldCount + 2) throw new TypeError('wrong length')
    const [name, key, ...values]: readonly unknown[] = parts
    if (name !== index || typeof key !== 'string') throw new TypeError('another index')
    return { key, values: values.map(fromWire) }
  } catch {
    throw invalidField('cursor', 'is not a cursor of this list')
  }
}
