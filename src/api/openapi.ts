import { z } from 'zod'
import { type ErrorCode, errorCodes } from '../core/error.ts'
import { formatPrice } from '../core/money.ts'
import { type Access, type Endpoint, isPaid, paramNames, type Reply, templatePath } from './endpoint.ts'
import { api, rowNames } from './index.ts'
import { type Flags, isEnabled, statusOf } from './status.ts'
import { PaymentRequired } from './x402.ts'

type Json = Record<string, unknown>

/** Error body of decisions §2. */
const ErrorBody = z
  .object({
    error: z.string(),
    code: z.string(),
    message: z.string(),
    request_id: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    retry_after: z.number().optional(),
  })
  .meta({ id: 'Error' })

/** The contract as OpenAPI 3.1: deferred rows are left out while the cutover is on, else marked (decisions §12). */
export function openapiDocument(server: { url: string; flags: Flags }): Json {
  const schemas = collectSchemas()
  const paths: Record<string, Json> = {}
  for (const name of rowNames) {
    const row: Endpoint = api[name]
    if (!isEnabled(row, server.flags) || statusOf(row, server.flags) === 'deferred') continue
    const path = templatePath(row.path)
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(name, { row, flags: server.flags, schemas }) }
  }
  schemas.of(PaymentRequired)
  return {
    openapi: '3.1.0',
    info: {
      title: 'souk',
      version: '1.0.0',
      summary: 'A marketplace of agent services, paid by x402 or from a balance',
    },
    servers: [{ url: server.url }],
    paths,
    components: { schemas: schemas.components, securitySchemes },
  }
}

const securitySchemes = {
  apiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: '`sk_` and 40 hex digits' },
  balanceAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'X-BALANCE-AUTH',
    description: 'the API key; it identifies and pays from that participant’s balance',
  },
  x402Payment: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description: 'base64 of a signed x402 payment (v1; v2 in PAYMENT-SIGNATURE), USDC on base',
  },
  adminAuth: { type: 'http', scheme: 'bearer', description: '`adm_` and 40 hex digits' },
  tokenAuth: { type: 'http', scheme: 'bearer', description: 'a token that opens one thing' },
} as const

const securityOf: Readonly<Record<Access['door'], readonly Json[]>> = {
  open: [],
  key: [{ apiKeyAuth: [] }, { balanceAuth: [] }],
  admin: [{ adminAuth: [] }],
  token: [{ tokenAuth: [] }],
  paid: [{ x402Payment: [] }, { balanceAuth: [] }],
  key_or_paid: [{ apiKeyAuth: [] }, { tokenAuth: [] }, { x402Payment: [] }, { balanceAuth: [] }],
  key_or_signed: [{ apiKeyAuth: [] }, {}],
}

function security(access: Access): readonly Json[] {
  if (access.door === 'paid' && access.x402Only) return [{ x402Payment: [] }]
  if (access.door === 'key' && access.orToken) return [...securityOf.key, ...securityOf.token]
  return securityOf[access.door]
}

type Facts = { readonly row: Endpoint; readonly flags: Flags; readonly schemas: Schemas }

function operation(name: string, { row, flags, schemas }: Facts): Json {
  const { access } = row
  const price = isPaid(row) ? row.access.price : undefined
  return {
    operationId: name,
    tags: [row.section],
    summary: row.summary,
    security: security(access),
    parameters: [...pathParameters(row), ...queryParameters(row, schemas)],
    ...(row.body ? { requestBody: requestBody(row.body, schemas) } : {}),
    responses: responses(row, schemas),
    'x-status': statusOf(row, flags),
    ...(price === undefined ? {} : { 'x-price': price === 'varies' ? price : formatPrice(price) }),
    ...(row.feature ? { 'x-deferred': { feature: row.feature, replacement: 'POST /v1/services/{id}/purchase' } } : {}),
  }
}

function pathParameters(row: Endpoint): Json[] {
  return paramNames(row.path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

function queryParameters(row: Endpoint, schemas: Schemas): Json[] {
  if (!row.query) return []
  const { properties = {}, required = [] } = schemas.of(row.query) as { properties?: Json; required?: string[] }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function requestBody(body: NonNullable<Endpoint['body']>, schemas: Schemas): Json {
  return body.kind === 'json'
    ? { required: true, content: { 'application/json': { schema: schemas.of(body.schema) } } }
    : { required: true, content: { 'multipart/form-data': { schema: schemas.of(body.fields) } } }
}

function responses(row: Endpoint, schemas: Schemas): Json {
  const codes = new Set<ErrorCode>([...row.errors, ...gateErrors(row)])
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status)
  const errors = [...byStatus].map(([status, group]) => [
    String(status),
    {
      description: group.join(', '),
      content: { 'application/json': { schema: schemas.of(status === 402 ? PaymentRequired : ErrorBody) } },
    },
  ])
  return Object.fromEntries([success(row.reply, schemas), ...errors])
}

/** Errors that the gates add to what the row declares itself. */
function gateErrors(row: Endpoint): ErrorCode[] {
  const codes: ErrorCode[] = ['invalid_request', 'rate_limited', 'internal']
  if (row.access.door !== 'open' && row.access.door !== 'paid') codes.push('unauthorized')
  if (isPaid(row)) codes.push('payment_required', 'idempotency_mismatch', 'paused')
  if (row.feature) codes.push('deferred')
  if (row.needsTerms) codes.push('terms_required')
  return codes
}

function success(reply: Reply, schemas: Schemas): [string, Json] {
  switch (reply.kind) {
    case 'json':
      return ['200', { description: 'OK', content: { 'application/json': { schema: schemas.of(reply.schema) } } }]
    case 'empty':
      return ['204', { description: 'No content' }]
    case 'bytes':
      return ['200', { description: 'OK', content: { [reply.contentType]: {} } }]
    case 'file':
      return ['200', { description: 'OK', content: { 'application/octet-stream': {} } }]
    case 'html':
      return ['200', { description: 'OK', content: { 'text/html': {} } }]
    case 'events':
      return [
        '200',
        { description: 'server-sent events', content: { 'text/event-stream': { schema: schemas.of(reply.schema) } } },
      ]
  }
}

/** Collects schemas that have an id; everything on the wire is the input side of its codec. */
type Schemas = { readonly components: Record<string, Json>; readonly of: (schema: z.ZodType) => Json }

function collectSchemas(): Schemas {
  const components: Record<string, Json> = {}
  return {
    components,
    of(schema) {
      const { $schema: _, $defs = {}, ...rest } = z.toJSONSchema(schema, { io: 'input', override: tidySchema }) as Json
      for (const [id, definition] of Object.entries($defs as Record<string, Json>)) {
        const component = relocate(definition) as Json // an object stays one
        if (components[id] && JSON.stringify(components[id]) !== JSON.stringify(component)) {
          throw new Error(`two schemas are called ${id}`)
        }
        components[id] = component
      }
      return relocate(rest) as Json // an object stays one
    },
  }
}

/** zod emits a 300-character pattern for date-times and a format that no standard names. */
function tidySchema({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema.format === 'starts_with') delete jsonSchema.format
  delete jsonSchema.id
}

function relocate(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relocate)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    name === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : relocate(value),
  ])
  return Object.fromEntries(entries)
}
