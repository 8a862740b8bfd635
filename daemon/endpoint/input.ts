import { z } from 'zod'
import type { Endpoint, Input } from '../../src/api/endpoint/define.ts'
import { AppError, type ErrorDetail } from '../../src/core/error.ts'
import { at, isKeyOf } from '../../src/core/record.ts'
import { KnownJson } from '../../src/model/service.ts'
import type { Exchange } from './exchange.ts'
import { turnFor } from './json.ts'

const MAX_PARAM_CHARS = 200
const MAX_DETAILS = 20

/** Parses parameters, query and body by the endpoint's schemas. @throws AppError 400 that names each invalid field. */
export async function parseInput<E extends Endpoint>(endpoint: E, exchange: Exchange): Promise<Input<E>> {
  const body = endpoint.body?.kind === 'json' ? await bodyOf(endpoint, endpoint.body.schema, exchange) : undefined
  return { params: parseParams(exchange), query: parseQuery(endpoint, exchange), body } as Input<E> // shaped by the endpoint's own schemas
}

/** Error codes that an endpoint's `badBody` code replaces, if the endpoint has one. */
const bodyFaults: ReadonlySet<string> = new Set(['invalid_request', 'unsupported_media_type', 'too_large'])

async function bodyOf({ badBody }: Endpoint, schema: z.ZodType, exchange: Exchange): Promise<unknown> {
  try {
    const parsed = parseBody(schema, (await exchange.body()) ?? {})
    await turnFor(exchange.header)
    return parsed
  } catch (error) {
    if (badBody === undefined || !(error instanceof AppError) || !bodyFaults.has(error.code)) throw error
    throw new AppError(badBody, error.message, error.details ? { details: error.details } : {})
  }
}

export function parseBody(schema: z.ZodType, value: unknown): unknown {
  return parse(schema, value, 'body')
}

export function parseQuery(endpoint: Endpoint, exchange: Exchange): unknown {
  return endpoint.query ? parse(endpoint.query, known(endpoint.query, queryOf(endpoint, exchange)), 'query') : undefined
}

/** Drops empty parameters, which forms send, and parameters that the endpoint does not know. */
function known(schema: z.ZodObject, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).filter(([name, value]) => value !== '' && isKeyOf(schema.shape, name)),
  )
}

/** Whether the endpoint knows all query parameters. If not, the page is not cached, because such URLs are unlimited. */
export function isKnownQuery({ query }: Endpoint, exchange: Exchange): boolean {
  return Object.entries(exchange.query()).every(([name, value]) => value !== '' && isKeyOf(query?.shape ?? {}, name))
}

/** The query. For streams, the header `Last-Event-ID` of a reconnecting client takes the place of `cursor`. */
function queryOf({ reply }: Endpoint, exchange: Exchange): Readonly<Record<string, string>> {
  const isStream = reply.kind === 'events' || reply.kind === 'feed'
  const cursor = isStream ? exchange.header('Last-Event-ID') : undefined
  return cursor === undefined ? exchange.query() : { ...exchange.query(), cursor }
}

export function parseParams(exchange: Exchange): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(exchange.params)) {
    if (value.length > MAX_PARAM_CHARS) {
      throw new AppError('invalid_request', `${name}: at most ${MAX_PARAM_CHARS} characters`, {
        details: [{ path: name, message: `at most ${MAX_PARAM_CHARS} characters` }],
      })
    }
  }
  return exchange.params
}

/** The original input of a request, stored with its payment so that recovery can parse it again. */
export const WireInput = z.strictObject({ params: z.record(z.string(), z.string()), query: KnownJson, body: KnownJson })
export type WireInput = z.infer<typeof WireInput>

export async function wireInput(endpoint: Endpoint, exchange: Exchange): Promise<WireInput> {
  const body = endpoint.body ? ((await exchange.body()) ?? {}) : null
  return { params: { ...exchange.params }, query: { ...exchange.query() }, body: body as WireInput['body'] } // parsed JSON
}

export function parseWire<E extends Endpoint>(endpoint: E, wire: WireInput): Input<E> {
  const query = endpoint.query
    ? parse(endpoint.query, known(endpoint.query, wire.query as Readonly<Record<string, string>>), 'query')
    : undefined
  const body = endpoint.body?.kind === 'json' ? parseBody(endpoint.body.schema, wire.body) : undefined
  return { params: wire.params, query, body } as Input<E> // shaped by the endpoint's own schemas
}

function parse(schema: z.ZodType, value: unknown, whole: string): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.flatMap(detailsOf).slice(0, MAX_DETAILS)
  const first = at(details, 0)
  throw new AppError('invalid_request', `${first.path || `the ${whole}`}: ${first.message}`, {
    details: details.map((detail) => ({ path: detail.path || whole, message: detail.message })),
  })
}

function detailsOf(issue: z.core.$ZodIssue): ErrorDetail[] {
  const at = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: at ? `${at}.${key}` : key, message: 'unknown field' }))
  }
  if (issue.code === 'invalid_value') {
    const [only = '', ...others] = issue.values.map(String)
    return [
      { path: at, message: others.length === 0 ? `must be ${only}` : `must be one of ${[only, ...others].join(', ')}` },
    ]
  }
  return [{ path: at, message: messageOf(issue) }]
}

/** The message for an issue: "required" for a missing field, else the library's message without its prefix. */
function messageOf({ message }: z.core.$ZodIssue): string {
  const [, type] = /^Invalid input: expected (\w+), received undefined$/.exec(message) ?? []
  return type === undefined ? message.replace(/^Invalid input: /, '') : `required (${type})`
}
