import { z } from 'zod'
import { keptIn } from '../../../src/core/record.ts'

/** Where a schema has bigints, which JSON stores as decimal strings. */
export type SchemaShape = {
  /** The value may be a bigint. */
  bigint: boolean
  /** The value may be a string. A bigint in the same place would then be ambiguous. */
  text: boolean
  /** The value may be anything, so nothing below it is converted. */
  opaque: boolean
  /** Types of the value: zod's names, or the `typeof` of literals. */
  kinds: Set<string>
  members: Map<string, SchemaShape>
  /** Shape of record values or array elements. */
  each: SchemaShape | undefined
}

type Def = {
  type: string
  shape?: Record<string, z.ZodType>
  innerType?: z.ZodType
  element?: z.ZodType
  valueType?: z.ZodType
  options?: readonly z.ZodType[]
  items?: readonly z.ZodType[]
  rest?: z.ZodType | null
  left?: z.ZodType
  right?: z.ZodType
  values?: readonly unknown[]
  getter?: () => z.ZodType
}

const opaqueTypes = new Set(['any', 'unknown', 'custom'])
const textTypes = new Set(['string', 'enum', 'template_literal', ...opaqueTypes])
const plainTypes = new Set(['number', 'int', 'boolean', 'null', 'undefined', 'never', 'void'])
/** `object` is here because it is the `typeof` of null. */
const storable = new Set(['bigint', 'object', ...textTypes, ...plainTypes])
const listTypes = new Set(['array', 'record', 'tuple'])
const wrapperTypes = new Set(['optional', 'nullable', 'default', 'prefault', 'readonly', 'nonoptional', 'catch'])

/** Analyses a schema. @throws TypeError when a member cannot be stored as JSON */
export function shapeOf(collection: string, schema: z.ZodType): SchemaShape {
  const lazies = new Map<z.ZodType, SchemaShape>()
  const loops: Loop[] = []

  function containers(def: Def, shape: SchemaShape, path: string): boolean {
    if (def.type === 'object') {
      for (const [name, member] of Object.entries(def.shape ?? {}))
        walk(member, memberOf(shape, name), `${path}.${name}`)
      return true
    }
    if (!listTypes.has(def.type)) return false
    const elements = [def.element, def.valueType, ...(def.items ?? []), def.rest].filter((s) => s instanceof z.ZodType)
    for (const element of elements) walk(element, eachOf(shape), `${path}[]`)
    return elements.length > 0
  }

  function alternatives(def: Def, shape: SchemaShape, path: string): boolean {
    const branches = [...(def.options ?? []), def.left, def.right].filter((s) => s instanceof z.ZodType)
    if (wrapperTypes.has(def.type) && def.innerType !== undefined) branches.push(def.innerType)
    for (const branch of branches) walk(branch, shape, path)
    return branches.length > 0
  }

  function walk(current: z.ZodType, shape: SchemaShape, path: string): void {
    const def = current._zod.def as unknown as Def // zod's definitions are a union too wide to narrow member by member
    if (def.type === 'lazy' && def.getter !== undefined) {
      const known = lazies.get(current)
      if (known === undefined) {
        lazies.set(current, shape)
        walk(def.getter(), shape, path)
      } else loops.push({ shape, known, path })
      return
    }
    if (alternatives(def, shape, path) || containers(def, shape, path)) return
    leaf(def, shape, path)
  }

  const root = blank()
  walk(schema, root, collection)
  for (const loop of loops) close(loop)
  return root
}

function blank(): SchemaShape {
  return { bigint: false, text: false, opaque: false, kinds: new Set(), members: new Map(), each: undefined }
}

function eachOf(shape: SchemaShape): SchemaShape {
  shape.each ??= blank()
  return shape.each
}

function memberOf(shape: SchemaShape, name: string): SchemaShape {
  return keptIn(shape.members, name, blank)
}

function leaf(def: Def, shape: SchemaShape, path: string): void {
  const types = def.type === 'literal' ? (def.values ?? []).map((value) => typeof value) : [def.type]
  if (types.some((type) => !storable.has(type)))
    throw new TypeError(`${path}: a z.${def.type} cannot be stored; rows hold plain domain values`)
  for (const type of types) shape.kinds.add(type)
  shape.bigint ||= types.includes('bigint')
  shape.text ||= types.some((type) => textTypes.has(type))
  shape.opaque ||= opaqueTypes.has(def.type)
  if (shape.bigint && shape.text) throw new TypeError(`${path}: a bigint and a string cannot share a member`)
}

type Loop = { readonly shape: SchemaShape; readonly known: SchemaShape; readonly path: string }

/** Completes the placeholder of a recursive shape once the shape is known. */
function close({ shape, known, path }: Loop): void {
  if (shape === known) return
  if (shape.members.size > 0 || shape.each !== undefined) {
    if (holdsBigint(known)) throw new TypeError(`${path}: a recursive member cannot also be another object`)
    return
  }
  shape.bigint ||= known.bigint
  shape.text ||= known.text
  shape.opaque ||= known.opaque
  shape.kinds = known.kinds
  shape.members = known.members
  shape.each = known.each
}

/** Whether a value of this shape may contain a bigint. */
export function holdsBigint(shape: SchemaShape, seen = new Set<SchemaShape>()): boolean {
  if (seen.has(shape)) return false
  seen.add(shape)
  if (shape.bigint || (shape.each !== undefined && holdsBigint(shape.each, seen))) return true
  return [...shape.members.values()].some((member) => holdsBigint(member, seen))
}
