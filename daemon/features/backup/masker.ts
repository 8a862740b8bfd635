import type { z } from 'zod'
import type { AnyRow } from '../../store/engine/order.ts'
import { LEFT_OUT, type Mask, type Masks } from '../../store/masks.ts'
import type { AnyCollection } from '../../store/port.ts'
import type { Pseudonyms } from './pseudonyms.ts'

type Change = (value: unknown) => unknown
/** What `gone` makes of a member that can only be left out. */
const ABSENT = Symbol('absent')

type Def = {
  readonly type: string
  readonly shape?: Record<string, z.ZodType>
  readonly innerType?: z.ZodType
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
}
const wrappers = new Set(['optional', 'nullable', 'default', 'readonly', 'nonoptional'])
/** Types of which no value holds a text that is not in the schema. */
const wordless = new Set(['number', 'int', 'bigint', 'boolean', 'enum', 'literal', 'null', 'undefined'])

type Place = { readonly path: string; readonly mask: Mask | undefined }

/**
 * What makes rows of a collection fit for a copy without people; undefined where it does without them.
 * @throws TypeError for a text that nothing is said of, and for a mask of what is not there.
 */
export function maskerOf(collection: AnyCollection, names: Pseudonyms): ((row: AnyRow) => AnyRow) | undefined {
  const { name, masks, schema } = collection
  if (masks === LEFT_OUT) return undefined
  const { version: _, ...shape } = membersOf(schema) ?? {}
  const changes = changesOf(shape, { path: name, mask: masks ?? {} }, names)
  return (row) => changed(row, changes) as AnyRow // all but some texts as they were
}

function defOf(schema: z.ZodType): Def {
  return schema._zod.def as unknown as Def // zod's definitions are a union too wide to narrow member by member
}

/** Members of an object, or of all the objects that may stand there; undefined where no object does. */
function membersOf(schema: z.ZodType): Record<string, z.ZodType> | undefined {
  const { type, shape, innerType, element, options } = defOf(schema)
  if (type === 'object') return shape
  if (type === 'array') return element && membersOf(element)
  if (wrappers.has(type) && innerType) return membersOf(innerType)
  if (type !== 'union') return undefined
  const found = (options ?? []).map(membersOf).filter((members) => members !== undefined)
  return found.length === 0 ? undefined : Object.assign({}, ...found)
}

/** Whether a text can stand there that is not one of the schema's own words. */
function holdsText(schema: z.ZodType): boolean {
  const { type, shape, innerType, element, options } = defOf(schema)
  if (wordless.has(type)) return false
  if (type === 'object') return Object.values(shape ?? {}).some(holdsText)
  if (type === 'array' && element) return holdsText(element)
  if (wrappers.has(type) && innerType) return holdsText(innerType)
  if (type === 'union') return (options ?? []).some(holdsText)
  return true
}

function changesOf(shape: Record<string, z.ZodType>, { path, mask }: Place, names: Pseudonyms): Map<string, Change> {
  const masks = typeof mask === 'object' ? mask : {}
  const stray = Object.keys(masks).find((member) => !Object.hasOwn(shape, member))
  if (stray !== undefined) throw new TypeError(`${path} has no ${stray} to mask`)
  const changes = new Map<string, Change>()
  for (const [member, schema] of Object.entries(shape)) {
    if (!holdsText(schema) && masks[member] === undefined) continue
    changes.set(member, changeOf(schema, { path: `${path}.${member}`, mask: masks[member] }, names))
  }
  return changes
}

function changeOf(schema: z.ZodType, { path, mask }: Place, names: Pseudonyms): Change {
  if (mask === undefined) throw new TypeError(`nothing is said of the text in ${path} (daemon/store/masks.ts)`)
  if (mask === 'gone') return isNullable(schema) ? () => null : () => ABSENT
  if (typeof mask === 'string') return leafOf(mask, names)
  const shape = membersOf(schema)
  if (shape === undefined) return documentOf(mask, names)
  const changes = changesOf(shape, { path, mask }, names)
  const each: Change = (value) => (Array.isArray(value) ? value.map(each) : changed(value, changes))
  return each
}

/** Whether null may stand there; what may be left out besides is null too. */
function isNullable(schema: z.ZodType): boolean {
  return schema.safeParse(null).success
}

function leafOf(mask: Exclude<Mask, Masks | 'gone'>, names: Pseudonyms): Change {
  if (mask === 'empty') return emptied
  if (mask === 'file') return (value) => (value === null ? null : names.file(value))
  const text = { ours: names.names, text: names.words, url: names.url, secret: names.secret }[mask]
  const each: Change = (value) => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(each)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [text(name), each(inner)]))
  }
  return each
}

function emptied(value: unknown): unknown {
  if (typeof value === 'string') return ''
  if (Array.isArray(value)) return []
  return typeof value === 'object' && value !== null ? {} : value
}

/** JSON of ours of which some members are somebody's words. */
function documentOf(masks: Masks, names: Pseudonyms): Change {
  const rest = leafOf('ours', names)
  const each: Change = (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return rest(value)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, memberOf(name)(inner)]))
  }
  const memberOf = (name: string): Change => {
    const mask = masks[name]
    return typeof mask === 'string' && mask !== 'gone' ? leafOf(mask, names) : each
  }
  return each
}

function changed(value: unknown, changes: ReadonlyMap<string, Change>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const change = changes.get(name)
    const fresh = change ? change(inner) : inner
    return fresh === ABSENT ? [] : [[name, fresh] as const]
  })
  return Object.fromEntries(members)
}
