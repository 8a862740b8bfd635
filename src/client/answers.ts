import { z } from 'zod'
import type { Endpoint } from '../api/endpoint/define.ts'
import { api, endpointNames } from '../api/index.ts'
import { idPrefixes } from '../core/id-prefixes.ts'
import type { Callable, Streaming } from './asked.ts'
import type { AnswerShape } from './check.ts'

/* Shapes of all JSON responses. The build stores the computed table, so the program needs no schema library. */

type Tables = {
  readonly shared: Readonly<Record<string, string>>
  /** Response shapes as JSON, parsed on first use. */
  readonly answers: { readonly [K in Callable]: string }
  readonly events: { readonly [K in Streaming]: string }
}

/** `z.json()` is the only anonymous recursive schema. */
const isAnyJson = (id: string) => /^__schema\d+$/.test(id)
const LOCAL = '#/$defs/'
/** Names of members that may have values unknown to this version. Other members, such as those of payments, may not. */
const STATUS_WORDS = /^(?:status|state|verdict|next_event|\w+_status|\w+_tier)$/

export const { shared, answers, events } = tables()

function tables(): Tables {
  const shapes = new Map<string, string>()
  const rowsOf = (isWanted: (kind: Endpoint['reply']['kind']) => boolean) =>
    Object.fromEntries(
      endpointNames.flatMap((name) => {
        const { reply }: Endpoint = api[name]
        return 'schema' in reply && isWanted(reply.kind) ? [[name, shapeText(reply.schema, shapes)]] : []
      }),
    )
  const rows = { answers: rowsOf((kind) => kind !== 'events'), events: rowsOf((kind) => kind === 'events') }
  return { shared: Object.fromEntries(shapes), ...rows } as Tables // a row for each of these endpoints
}

/** The shape of a schema, as JSON. Shared shapes are added to `shapes`. */
function shapeText(schema: z.ZodType, shapes: Map<string, string>): string {
  const { $defs = {}, ...whole } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema & Definitions // as zod writes it
  for (const [id, definition] of Object.entries($defs)) {
    if (!isAnyJson(id)) share(shapes, id, JSON.stringify(shapeOf(definition)))
  }
  return JSON.stringify(shapeOf(whole))
}

type Definitions = { readonly $defs?: Readonly<Record<string, JsonSchema>> }

function share(shapes: Map<string, string>, id: string, text: string): void {
  if ((shapes.get(id) ?? text) !== text) throw new Error(`duplicate schema name ${id}`)
  shapes.set(id, text)
}

type JsonSchema = {
  readonly type?: string | readonly string[]
  readonly $ref?: string
  readonly const?: string | number | boolean | null
  readonly enum?: readonly (string | number)[]
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly propertyNames?: JsonSchema
  readonly items?: JsonSchema
  readonly pattern?: string
  readonly [bound: string]: unknown
}

function shapeOf(schema: JsonSchema): AnswerShape {
  const { $ref, anyOf, enum: words, const: only } = schema
  if ($ref !== undefined) return isAnyJson($ref.slice(LOCAL.length)) ? '*' : `@${$ref.slice(LOCAL.length)}`
  if (anyOf) return ['|', ...anyOf.map(shapeOf)]
  if (words) return ['=', ...words]
  if (only !== undefined) return only === null ? '0' : ['=', only]
  if (typeof schema.type === 'object') return ['|', ...schema.type.map((type) => shapeOf({ ...schema, type }))]
  switch (schema.type) {
    case 'string':
      return textShape(schema)
    case 'integer':
    case 'number':
      return numberShape(schema)
    case 'boolean':
      return 'b'
    case 'null':
      return '0'
    case 'array':
      return ['[', shapeOf(schema.items ?? {}), ...boundsOf(schema, ['minItems', 'maxItems'])]
    case 'object':
      return objectShape(schema)
    default:
      return '*'
  }
}

function textShape(schema: JsonSchema): AnswerShape {
  const noun = Object.values(idPrefixes).find((prefix) => schema.pattern === `^${prefix}[0-9a-f]{16}$`)
  if (noun !== undefined) return `#${noun}`
  if (schema.pattern !== undefined) return ['/', schema.pattern]
  return bounded('s', boundsOf(schema, ['minLength', 'maxLength']))
}

function numberShape({ exclusiveMinimum, ...schema }: JsonSchema): AnswerShape {
  const kind = schema.type === 'integer' ? 'i' : 'n'
  const minimum = typeof exclusiveMinimum === 'number' && kind === 'i' ? exclusiveMinimum + 1 : schema.minimum
  return bounded(kind, boundsOf({ ...schema, minimum }, ['minimum', 'maximum']))
}

/** The bounds of a schema, which follow the tag in its shape. Empty if the schema has no bounds. */
function boundsOf(schema: JsonSchema, names: readonly [string, string]): readonly (number | null)[] {
  const [min = null, max = null] = names.map((name) => {
    const bound = schema[name]
    return typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : null
  })
  return [min, max].slice(0, max === null ? Number(min !== null) : 2)
}

function bounded(tag: string, bounds: readonly (number | null)[]): AnswerShape {
  return bounds.length === 0 ? tag : [tag, ...bounds]
}

function objectShape({ properties, required = [], additionalProperties, propertyNames }: JsonSchema): AnswerShape {
  if (properties === undefined && typeof additionalProperties === 'object') {
    const keys = propertyNames?.enum ?? []
    const values = shapeOf(additionalProperties)
    return keys.length === 0 ? ['{', values] : Object.fromEntries(keys.map((key) => [key, values]))
  }
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, member]) => [
      required.includes(name) ? name : `${name}?`,
      STATUS_WORDS.test(name) ? openWords(shapeOf(member)) : shapeOf(member),
    ]),
  )
}

function openWords(shape: AnswerShape): AnswerShape {
  if (!Array.isArray(shape)) return shape
  const [tag, ...rest] = shape
  if (tag === '|') return [tag, ...rest.map((form) => openWords(form as AnswerShape))] // parts of a choice are shapes
  return tag === '=' && rest.length > 1 ? ['w'] : shape
}
