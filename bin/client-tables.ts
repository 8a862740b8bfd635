// Writes src/client/endpoints.ts and src/client/answers.ts from the contract: what the light client needs of it, without
// the schema library.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Endpoint } from '../src/api/endpoint/define.ts'
import { api, endpointNames } from '../src/api/index.ts'
import type { AnswerShape } from '../src/client/check.ts'
import { idPrefixes } from '../src/core/id-prefixes.ts'

const folder = fileURLToPath(new URL('../src/client/', import.meta.url))
const WRITTEN = '// Written by `npm run commands` from the contract; a test fails when it is stale.'

/** Text of src/client/endpoints.ts: where each endpoint is, and what opens it. */
export function endpointsText(): string {
  const rows = endpointNames.map((name) => {
    const { method, path, access } = api[name]
    return `  ${name}: ['${method}', '${path}', '${access.kind}'],`
  })
  return `${WRITTEN}
import type { Api, EndpointName } from '../api/index.ts'

/** Method, path and what opens it, of every endpoint. */
export const endpoints = {
${rows.join('\n')}
} as const satisfies {
  readonly [K in EndpointName]: readonly [Api[K]['method'], Api[K]['path'], Api[K]['access']['kind']]
}
`
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

/** Text of src/client/answers.ts: the shape of every JSON answer, as JSON that is read when it is first needed. */
export function answersText(): string {
  const shared = new Map<string, string>()
  const rowsOf = (isWanted: (kind: Endpoint['reply']['kind']) => boolean) =>
    endpointNames.flatMap((name) => {
      const { reply }: Endpoint = api[name]
      return 'schema' in reply && isWanted(reply.kind) ? [`  ${name}: ${shapeText(reply.schema, shared)},`] : []
    })
  const answers = rowsOf((kind) => kind !== 'events')
  const events = rowsOf((kind) => kind === 'events')
  const rows = [...shared].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([id, shape]) => `  ${id}: ${shape},`)
  return `${WRITTEN}

/** Shapes that several answers share, by their name in the description. */
export const shared: Readonly<Record<string, string>> = {
${rows.join('\n')}
}

/** What each endpoint answers, see \`AnswerShape\`. */
export const answers = {
${answers.join('\n')}
} as const

/** What each event of a stream is. */
export const events = {
${events.join('\n')}
} as const
`
}

/** Its shape as a literal of the source; what it shares with others is kept beside it. */
function shapeText(schema: z.ZodType, shared: Map<string, string>): string {
  const { $defs = {}, ...whole } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema & Definitions // as zod writes it
  for (const [id, definition] of Object.entries($defs)) {
    if (!isAnyJson(id)) share(shared, id, shapeOf(definition))
  }
  return quoted(shapeOf(whole))
}

type Definitions = { readonly $defs?: Readonly<Record<string, JsonSchema>> }

function share(shared: Map<string, string>, id: string, shape: AnswerShape): void {
  const text = quoted(shape)
  if ((shared.get(id) ?? text) !== text) throw new Error(`two schemas are called ${id}`)
  shared.set(id, text)
}

/** A shape as JSON, in a literal of the source. */
function quoted(shape: AnswerShape): string {
  return `'${JSON.stringify(shape).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** `z.json()` is the one recursive schema without a name. */
const isAnyJson = (id: string) => /^__schema\d+$/.test(id)
const LOCAL = '#/$defs/'

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

/** Bounds behind a tag: none where there are none but what every number has. */
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

/**
 * Members that say how something stands, and are shown: a later instance may have a word for it that this version does
 * not know. Words that say what is paid, how often and in what, stay those that are known.
 */
const STATUS_WORDS = /^(?:status|state|verdict|next_event|\w+_status|\w+_tier)$/

function openWords(shape: AnswerShape): AnswerShape {
  if (!Array.isArray(shape)) return shape
  const [tag, ...rest] = shape
  if (tag === '|') return [tag, ...rest.map((form) => openWords(form as AnswerShape))] // parts of a choice are shapes
  return tag === '=' && rest.length > 1 ? ['w'] : shape
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(`${folder}endpoints.ts`, endpointsText())
  writeFileSync(`${folder}answers.ts`, answersText())
}
