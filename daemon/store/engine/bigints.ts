import type { z } from 'zod'
import type { AnyRow } from './order.ts'
import { holdsBigint, type SchemaShape, shapeOf } from './shape.ts'

/** Converts rows to and from JSON; rows without bigints are returned unchanged. */
export type RowCodec = {
  /** Converts bigints to decimal strings; copies only objects that contain one. */
  toJson(row: AnyRow): AnyRow
  /** Restores bigints of a parsed row in place. */
  fromJson(row: AnyRow): AnyRow
}

type Mutable = Record<string, unknown>
type Convert = (value: unknown) => unknown
type Direction = { readonly leaf: Convert; readonly inPlace: boolean }

const outward: Direction = { leaf: (v) => (typeof v === 'bigint' ? v.toString() : v), inPlace: false }
const inward: Direction = { leaf: (v) => (typeof v === 'string' ? BigInt(v) : v), inPlace: true }

/** @throws TypeError when the schema cannot be JSON */
export function rowCodec(collection: string, schema: z.ZodType): RowCodec {
  const shape = shapeOf(collection, schema)
  refuseAmbiguous(shape, collection, new Set())
  const encode = converter(shape, outward, new Map())
  const decode = converter(shape, inward, new Map())
  const same = (row: AnyRow): AnyRow => row
  return {
    toJson: encode === undefined ? same : (row) => encode(row) as AnyRow,
    fromJson: decode === undefined ? same : (row) => decode(row) as AnyRow,
  }
}

/** Members of a schema that are bigints, of those named. */
export function bigintsAmong(collection: string, schema: z.ZodType, names: readonly string[]): string[] {
  const { members } = shapeOf(collection, schema)
  return names.filter((name) => members.get(name)?.bigint === true)
}

/** Converts only the members that are named, where there is no schema. */
export function memberCodec(names: readonly string[]): RowCodec {
  const convert = (direction: Direction) => {
    const parts = { members: names.map((name) => [name, direction.leaf] as const), each: undefined }
    return (row: AnyRow) => mapObject(row as Mutable, parts, direction) as AnyRow
  }
  return { toJson: convert(outward), fromJson: convert(inward) }
}

/** Refuses schemas whose unions make conversion ambiguous. */
function refuseAmbiguous(shape: SchemaShape, path: string, seen: Set<SchemaShape>): void {
  if (seen.has(shape)) return
  seen.add(shape)
  const eachHolds = shape.each !== undefined && holdsBigint(shape.each)
  if ((shape.opaque && holdsBigint(shape)) || (eachHolds && shape.members.size > 0))
    throw new TypeError(`${path}: the place of a bigint depends on the branch of a union`)
  if (shape.each !== undefined) refuseAmbiguous(shape.each, `${path}[]`, seen)
  for (const [name, member] of shape.members) refuseAmbiguous(member, `${path}.${name}`, seen)
}

/** Converter of a shape; undefined if the shape has no bigint. */
function converter(shape: SchemaShape, direction: Direction, known: Map<SchemaShape, Convert>): Convert | undefined {
  if (!holdsBigint(shape)) return undefined
  const existing = known.get(shape)
  if (existing !== undefined) return existing
  // Register the converter before its members are known, because a shape may contain itself.
  const parts: { members: readonly (readonly [string, Convert])[]; each: Convert | undefined } = {
    members: [],
    each: undefined,
  }
  const convert: Convert = (value) => {
    if (typeof value !== 'object' || value === null) return shape.bigint ? direction.leaf(value) : value
    if (Array.isArray(value)) return parts.each === undefined ? value : mapArray(value, parts.each, direction)
    return mapObject(value as Mutable, parts, direction)
  }
  known.set(shape, convert)
  parts.each = shape.each === undefined ? undefined : converter(shape.each, direction, known)
  parts.members = [...shape.members].flatMap(([name, member]) => {
    const inner = converter(member, direction, known)
    return inner === undefined ? [] : [[name, inner] as const]
  })
  return convert
}

function mapArray(list: unknown[], each: Convert, direction: Direction): unknown[] {
  if (!direction.inPlace) return list.map(each)
  for (let i = 0; i < list.length; i += 1) list[i] = each(list[i])
  return list
}

function mapObject(
  value: Mutable,
  parts: { members: readonly (readonly [string, Convert])[]; each: Convert | undefined },
  direction: Direction,
): Mutable {
  const target = direction.inPlace ? value : { ...value }
  if (parts.each !== undefined) for (const name of Object.keys(target)) target[name] = parts.each(target[name])
  for (const [name, inner] of parts.members) if (target[name] !== undefined) target[name] = inner(target[name])
  return target
}
