import type { z } from 'zod'
import { compact } from '../../core/record.ts'
import { kebab } from '../../text/text.ts'

// Reads what a zod schema says about a flag or positional without importing zod: help costs no schema library.

/** The shape of a value on the command line. */
export type OptionShape = {
  readonly kind: 'flag' | 'text' | 'number' | 'choice'
  readonly list: boolean
  readonly required: boolean
  readonly choices: readonly string[]
  readonly fallback: unknown
  readonly short?: string
  /** Placeholder in the help text. */
  readonly value: string
  readonly summary: string
}

type Meta = { short?: string; value?: string; description?: string }
type Node = { schema: z.ZodType; fallback: unknown; optional: boolean; meta: Meta }

type Definition = {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly element?: z.ZodType
  readonly entries?: Readonly<Record<string, string>>
  readonly defaultValue?: unknown
}

function defOf(schema: z.ZodType): Definition {
  // What kind a schema is shows only at run time: its type names the members of every kind, each of them optional.
  return schema._zod.def as unknown as Definition
}

/** Peels optional, default and codec wrappers off; the outermost metadata wins. */
function unwrap(node: Node): Node {
  const { schema } = node
  const meta = { ...(schema.meta() as Meta | undefined), ...node.meta }
  const def = defOf(schema)
  if (def.type === 'default' || def.type === 'prefault') {
    return unwrap({ schema: inner(def.innerType), fallback: def.defaultValue, optional: true, meta })
  }
  if (def.type === 'optional') return unwrap({ ...node, schema: inner(def.innerType), optional: true, meta })
  if (def.type === 'pipe') return unwrap({ ...node, schema: inner(def.in), meta })
  return { ...node, meta }
}

function inner(schema: z.ZodType | undefined): z.ZodType {
  if (schema === undefined) throw new TypeError('a wrapper schema holds no schema')
  return schema
}

const kinds: Readonly<Record<string, OptionShape['kind']>> = { boolean: 'flag', number: 'number', enum: 'choice' }

/** How one member of `args` or `options` reads on the command line. */
export function shapeOf(schema: z.ZodType): OptionShape {
  const outer = unwrap({ schema, fallback: undefined, optional: false, meta: {} })
  const outerDef = defOf(outer.schema)
  const list = outerDef.type === 'array'
  const node = list ? unwrap({ ...outer, schema: inner(outerDef.element) }) : outer
  const def = defOf(node.schema)
  const kind = kinds[def.type] ?? 'text'
  const choices = Object.values(def.entries ?? {})
  const { short, value, description } = node.meta
  return {
    kind,
    list,
    choices,
    required: !outer.optional && kind !== 'flag',
    fallback: outer.fallback,
    value: value ?? placeholder(kind, choices),
    summary: description ?? '',
    ...compact({ short }),
  }
}

function placeholder(kind: OptionShape['kind'], choices: readonly string[]): string {
  if (kind === 'choice') return choices.join('|')
  return kind === 'number' ? 'n' : 'text'
}

/** How an option is typed: `--limit`, and `--no-ripe` where it is on unless told. */
export function flagOf(key: string, shape: OptionShape): string {
  return shape.kind === 'flag' && shape.fallback === true ? `--no-${kebab(key)}` : `--${kebab(key)}`
}

/** Members of an object schema with their shapes, in order. */
export function membersOf(schema: z.ZodObject): readonly (readonly [string, OptionShape])[] {
  return Object.entries(schema.shape).map(([key, member]) => [key, shapeOf(member as z.ZodType)] as const)
}
