import type { Json } from '../../../../src/core/json.ts'
import type { ApiOperation, Parameter } from './operations.ts'

type Members = { [member: string]: Json }
export type Document = Members

type Parts = {
  readonly title: string
  readonly origin: string | null
  readonly operations: readonly ApiOperation[]
  readonly prose: string
}

const MAX_DEPTH = 8
const MAX_MEMBERS = 100
const MAX_TEXT_CHARS = 300

/** Drafts an OpenAPI 3.1 description from documentation; each operation quotes its source. */
export function openapiOf({ title, origin, operations, prose }: Parts): Document {
  const auth = authOf(prose)
  const paths: { [path: string]: Members } = {}
  const ids = new Set<string>()
  for (const operation of operations) {
    const item = paths[operation.path] ?? {}
    item[operation.method.toLowerCase()] = operationOf(operation, ids)
    paths[operation.path] = item
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '0.0.0-draft',
      description: 'Drafted from public documentation; x-evidence quotes the source of each operation.',
    },
    ...(origin === null ? {} : { servers: [{ url: origin }] }),
    paths,
    ...(auth ? { components: { securitySchemes: { [auth.name]: auth.scheme } }, security: [{ [auth.name]: [] }] } : {}),
  }
}

function operationOf(
  { method, path, summary, parameters, request, responses, confidence, evidence }: ApiOperation,
  ids: Set<string>,
): Members {
  const inBody = parameters.filter((one) => one.in === 'body')
  const body = bodyOf(request, inBody)
  return {
    operationId: idOf(`${method.toLowerCase()} ${path}`, ids),
    ...(summary === '' ? {} : { summary: summary.slice(0, MAX_TEXT_CHARS).toWellFormed() }),
    parameters: parameters.filter((one) => one.in !== 'body').map(parameterOf),
    ...(body && method !== 'GET' && method !== 'HEAD'
      ? { requestBody: { content: { 'application/json': body } } }
      : {}),
    responses: responsesOf(responses),
    'x-confidence': Math.round(confidence * 100) / 100,
    'x-evidence': evidence,
  }
}

function idOf(words: string, ids: Set<string>): string {
  const base = words.replace(/\W+/g, '_').replace(/^_|_$/g, '')
  let id = base
  for (let count = 2; ids.has(id); count += 1) id = `${base}_${count}`
  ids.add(id)
  return id
}

function parameterOf({ name, type, required, description, in: place }: Parameter): Json {
  return {
    name,
    in: place,
    required: place === 'path' || required,
    ...(description === '' ? {} : { description }),
    schema: type === 'array' ? { type, items: {} } : { type },
  }
}

function bodyOf(request: unknown, fields: readonly Parameter[]): Members | undefined {
  if (request === undefined && fields.length === 0) return undefined
  const example = request === undefined ? {} : { example: request as Json } // parsed JSON
  const fromExample = request === undefined ? {} : schemaOf(request, 0)
  if (fields.length === 0) return { schema: fromExample, ...example }
  const known = typeof fromExample['properties'] === 'object' ? fromExample['properties'] : {}
  const properties = Object.fromEntries(
    fields.map(({ name, type, description }) => [name, { type, ...(description === '' ? {} : { description }) }]),
  )
  const required = fields.filter((one) => one.required).map(({ name }) => name)
  return {
    schema: { type: 'object', properties: { ...known, ...properties }, ...(required.length > 0 ? { required } : {}) },
    ...example,
  }
}

function responsesOf(responses: ReadonlyMap<string, unknown>): Members {
  if (responses.size === 0) return { default: { description: 'Not described.' } }
  const entries = [...responses].map(([status, example]) => {
    const content =
      example === undefined
        ? {}
        : { content: { 'application/json': { schema: schemaOf(example, 0), example: example as Json } } } // parsed JSON
    return [status, { description: `Status ${status}.`, ...content }] as const
  })
  return Object.fromEntries(entries)
}

/** Infers a JSON schema from an example value. */
function schemaOf(value: unknown, depth: number): Members {
  if (depth >= MAX_DEPTH || value === null || value === undefined) return {}
  if (Array.isArray(value)) return { type: 'array', items: value.length > 0 ? schemaOf(value[0], depth + 1) : {} }
  if (typeof value === 'object') {
    const members = Object.entries(value).slice(0, MAX_MEMBERS)
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, one]) => [name, schemaOf(one, depth + 1)])),
    }
  }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  return { type: typeof value === 'boolean' ? 'boolean' : 'string' }
}

/** Authentication scheme; undefined if not documented. */
export function authOf(prose: string): { name: string; scheme: Members } | undefined {
  if (/authorization:\s*bearer|bearer (token|authentication|auth)/i.test(prose))
    return { name: 'bearer', scheme: { type: 'http', scheme: 'bearer' } }
  const header = /\b(x-[\w-]*(?:key|token)[\w-]*)\b/i.exec(prose)?.[1]
  if (header !== undefined) return { name: 'key', scheme: { type: 'apiKey', in: 'header', name: header } }
  if (/authorization:\s*basic|\b(?:basic auth|http basic)/i.test(prose))
    return { name: 'basic', scheme: { type: 'http', scheme: 'basic' } }
  return /\bauthorization\W{0,3}(?::\s*\S|header)/i.test(prose)
    ? { name: 'key', scheme: { type: 'apiKey', in: 'header', name: 'Authorization' } }
    : undefined
}

const BASE = /(?:base (?:url|address|uri)|requests (?:go|are (?:made|sent)) to)[^\n]{0,80}?(https?:\/\/[^\s"'<>|)]+)/i

/** Base URL that the documentation states, otherwise the most common origin of the examples; null if unknown. */
export function originOf(prose: string, operations: readonly ApiOperation[]): string | null {
  const told = BASE.exec(prose)?.[1]?.replace(/[/.,]+$/, '')
  if (told !== undefined && URL.canParse(told)) {
    return operations.some(({ path }) => path.startsWith(new URL(told).pathname) && new URL(told).pathname !== '/')
      ? new URL(told).origin
      : told
  }
  const counts = new Map<string, number>()
  for (const { origin } of operations) if (origin !== null) counts.set(origin, (counts.get(origin) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}
