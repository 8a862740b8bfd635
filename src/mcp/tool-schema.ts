import { z } from 'zod'
import { tidySchema } from '../api/openapi/schemas.ts'
import { isObject } from '../core/json.ts'

/** A JSON schema of an object, as tools take their arguments. */
export type ArgumentSchema = { readonly type: 'object'; readonly [member: string]: unknown }

type Node = Readonly<Record<string, unknown>>

/** How often a recursive schema is written out before it becomes an object of any content. */
const EXPANSIONS_MAX = 2
/** The only format of a text that every client takes. */
const KNOWN_FORMAT = 'date-time'
/** An object of any content. */
const ANY_OBJECT: Node = { type: 'object' }

/**
 * The schema of a tool's arguments for clients that read a part of JSON Schema: no `$ref`, no recursion, one type a node,
 * no `const` and no `propertyNames`. It takes all that the endpoint takes, but for arrays nested deeper than written out.
 */
export function argumentSchema(shape: z.ZodRawShape): ArgumentSchema {
  const {
    $schema: _,
    $defs = {},
    ...root
  } = z.toJSONSchema(z.strictObject(shape), { io: 'input', override: tidySchema })
  return { ...simplified(root, { definitions: $defs, open: [] }), type: 'object' }
}

type Expansion = {
  readonly definitions: Node
  /** References that are being written out. */
  readonly open: readonly string[]
}

function simplified(node: Node, expansion: Expansion): Node {
  const { $ref, propertyNames: _, ...own } = node
  if (typeof $ref === 'string') return { ...expanded($ref, expansion), ...own }
  const entries = Object.entries(own).flatMap(([name, value]) => simplifiedMember(name, value, expansion))
  return withOneType(Object.fromEntries(entries))
}

function expanded($ref: string, { definitions, open }: Expansion): Node {
  const target = definitions[$ref.slice('#/$defs/'.length)]
  if (!isObject(target) || open.filter((one) => one === $ref).length >= EXPANSIONS_MAX) return ANY_OBJECT
  if (isAnything(target)) return { ...target, anyOf: ANYTHING }
  return simplified({ ...target }, { definitions, open: [...open, $ref] })
}

/** Any JSON, by the kinds there are. */
const ANYTHING = [
  ANY_OBJECT,
  { type: 'array', items: ANY_OBJECT },
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
]

function isAnything(schema: Node): boolean {
  return Object.keys(schema).every((keyword) => keyword === 'description')
}

function simplifiedMember(name: string, value: unknown, expansion: Expansion): [string, unknown][] {
  if (name === 'const') return [['enum', [value]]]
  if (name === 'format' && value !== KNOWN_FORMAT) return []
  // Members of any content are what an object has anyway.
  if (name === 'additionalProperties' && isObject(value) && '$ref' in value) return []
  if (name === 'properties' && isObject(value)) {
    const properties = Object.entries(value).map(([one, schema]) => [one, simplifiedValue(schema, expansion)])
    return [[name, Object.fromEntries(properties)]]
  }
  if (['enum', 'required', 'examples', 'default', 'type'].includes(name)) return [[name, value]]
  return [[name, simplifiedValue(value, expansion)]]
}

function simplifiedValue(value: unknown, expansion: Expansion): unknown {
  if (Array.isArray(value)) return value.map((one) => simplifiedValue(one, expansion))
  return isObject(value) ? simplified({ ...value }, expansion) : value
}

function withOneType({ type, ...rest }: Node): Node {
  if (type === undefined) return rest
  return Array.isArray(type) ? { ...rest, anyOf: type.map((one) => ({ type: one })) } : { type, ...rest }
}
