import { formatAmount, formatPrice } from '../../core/money.ts'
import { MAX_PRICE, PRICE_STEP } from '../../core/price.ts'
import { before } from '../../core/record.ts'
import {
  type Access,
  type Endpoint,
  type FeedReply,
  hasPages,
  isPaid,
  isShared,
  type PaidAccess,
  type Reply,
  templatePath,
} from '../endpoint/define.ts'
import { signInHeader } from '../endpoint/sign-in.ts'
import { clientLines, type LocalToken } from '../endpoint/x402.ts'
import { api, type EndpointName, endpointNames } from '../index.ts'
import { isEnabled, replacementOf, type Switches, statusOf } from '../status.ts'
import { anyOtherError, errorResponses, pageMedia } from './errors.ts'
import { parameters, requestBody } from './requests.ts'
import { collectSchemas, type OpenApiNode, type SchemaComponents } from './schemas.ts'
import { WEBHOOK_TAG, webhooksOf } from './webhooks.ts'
import { operationText, sectionText } from './words.ts'

/** A real response of an endpoint, with the 402 if the endpoint is paid. Made by `npm run docs`. */
export type AnswerExample = { readonly answer?: unknown; readonly offer?: unknown }

export type AnswerExamples = { [N in EndpointName]?: AnswerExample }

/** Response examples, loaded from their own file on first use. */
export async function readAnswerExamples(): Promise<AnswerExamples> {
  const { default: examples } = await import('../answer-examples.json', { with: { type: 'json' } })
  return examples
}

type Described = {
  readonly url: string
  readonly switches: Switches
  readonly examples?: AnswerExamples
  /** Set if the asset is test money that clients must be configured for. */
  readonly localToken?: LocalToken | undefined
}

/**
 * The contract as OpenAPI 3.1. It omits disabled endpoints and, during the cutover, those that are deferred entirely.
 * It marks every other deferrable endpoint with `x-deferred` (decisions §12).
 */
export function openapiDocument(server: Described): OpenApiNode {
  const schemas = collectSchemas()
  const responses: Record<string, OpenApiNode> = {
    AnyOtherError: anyOtherError(schemas),
    AnyOtherErrorPage: anyOtherError(schemas, pageMedia),
  }
  const paths: Record<string, OpenApiNode> = {}
  const { switches, examples = {} } = server
  const facts = { switches, schemas, responses }
  const shown = endpointNames.filter((name) => {
    const endpoint: Endpoint = api[name]
    return (
      isEnabled(endpoint, switches) && (statusOf(endpoint, switches) !== 'deferred' || endpoint.spares !== undefined)
    )
  })
  for (const name of shown) {
    const endpoint: Endpoint = api[name]
    const path = templatePath(endpoint.path)
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: operation(name, { endpoint, example: examples[name] ?? {}, ...facts }),
    }
  }
  return {
    openapi: '3.1.0',
    info: infoOf(server),
    servers: [{ url: server.url }],
    tags: [...new Set([...shown.map((name) => api[name].section), WEBHOOK_TAG])].map((name) => ({
      name,
      description: sectionText(name),
    })),
    paths,
    webhooks: webhooksOf(schemas),
    components: { schemas: schemas.components, responses, headers, securitySchemes },
  }
}

const LICENSE = { name: 'MIT', identifier: 'MIT' } as const

function infoOf({ url, localToken }: Described): OpenApiNode {
  return {
    title: 'souk',
    version: '1.0.0',
    summary: 'A marketplace of agent services, paid by x402 or from a balance',
    description: [
      'Agents find, buy, sell and verify services here. Reads are free. A paid endpoint without a payment returns 402 with the payment to sign, for x402 v1 and v2; an API key pays from the participant’s balance.',
      '',
      '## Paying with x402 client packages',
      '',
      ...clientLines(localToken),
    ].join('\n'),
    contact: { name: 'Operator of this marketplace', url },
    license: LICENSE,
  }
}

const headers = {
  'X-Request-Id': { description: 'names this request in logs and errors', schema: { type: 'string' } },
  'Retry-After': { description: 'seconds to wait before a retry', schema: { type: 'integer' } },
  'PAYMENT-REQUIRED': { description: 'base64 of the payment offer (x402 v2)', schema: { type: 'string' } },
  'X-PAYMENT-RESPONSE': { description: 'base64 of the settlement of X-PAYMENT (x402 v1)', schema: { type: 'string' } },
  'PAYMENT-RESPONSE': {
    description: 'base64 of the settlement of PAYMENT-SIGNATURE (x402 v2)',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': { description: 'true: the stored response of an earlier request', schema: { const: 'true' } },
  ETag: { description: 'validator for If-None-Match', schema: { type: 'string' } },
  'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530)', schema: { type: 'string' } },
  'Content-Disposition': { description: 'attachment, with the name of the file', schema: { type: 'string' } },
} as const

const securitySchemes = {
  apiKeyAuth: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: '`sk_` and 40 hex digits' },
  balanceAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'X-BALANCE-AUTH',
    description: 'API key; identifies the participant and pays from its balance',
  },
  x402Payment: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description: 'base64 of a signed x402 payment (v1; v2 in PAYMENT-SIGNATURE), USDC on base',
  },
  signIn: {
    type: 'apiKey',
    in: 'header',
    name: signInHeader,
    description: 'base64 of a signed challenge, CAIP-122 over EIP-191: see `extensions` of the 402 or 401',
  },
  adminAuth: { type: 'http', scheme: 'bearer', description: '`adm_` and 40 hex digits' },
  tokenAuth: { type: 'http', scheme: 'bearer', description: 'token for one resource' },
} as const

const byKey = [{ apiKeyAuth: [] }, { balanceAuth: [] }]
const byToken = [{ tokenAuth: [] }]
const bySignIn = [{ signIn: [] }]
const byPayment = [{ x402Payment: [] }, { balanceAuth: [] }]

const securityOf: Readonly<Record<Access['kind'], readonly OpenApiNode[]>> = {
  open: [],
  key: byKey,
  admin: [{ adminAuth: [] }],
  token: byToken,
  paid: byPayment,
  key_or_paid: [{ apiKeyAuth: [] }, ...byToken, ...byPayment],
  key_or_signed: [...byKey, {}],
}

function security(access: Access): readonly OpenApiNode[] {
  if (access.kind === 'open' && access.orKey) return [{}, ...byKey]
  if (access.kind === 'paid' && access.x402Only) return [{ x402Payment: [] }]
  if (access.kind === 'paid' && access.bundled) return [...securityOf.paid, { apiKeyAuth: [] }]
  if (access.kind === 'token' && access.at !== 'header') return []
  if (access.kind === 'key') return withKey(access)
  if (access.kind === 'key_or_paid') return [...securityOf.key_or_paid, ...(access.orSignIn ? bySignIn : [])]
  return securityOf[access.kind]
}

function withKey({ orToken, orAdmin, orSignIn }: Extract<Access, { kind: 'key' }>): readonly OpenApiNode[] {
  return [...byKey, ...(orToken ? byToken : []), ...(orAdmin ? securityOf.admin : []), ...(orSignIn ? bySignIn : [])]
}

type Facts = {
  readonly endpoint: Endpoint
  readonly example: AnswerExample
  readonly switches: Switches
  readonly schemas: SchemaComponents
  readonly responses: Record<string, OpenApiNode>
}

function operation(name: EndpointName, { endpoint, example, switches, schemas, responses }: Facts): OpenApiNode {
  const { access } = endpoint
  const price = isPaid(endpoint) ? endpoint.access.price : undefined
  return {
    operationId: name,
    tags: [endpoint.section],
    summary: endpoint.summary,
    description: operationText(endpoint),
    security: security(access),
    parameters: parameters(endpoint, schemas),
    ...(endpoint.body ? { requestBody: requestBody(name, endpoint.body, schemas) } : {}),
    responses: {
      ...success(endpoint, schemas, example),
      ...errorResponses(endpoint, { schemas, responses, ...example }),
      default: { $ref: `#/components/responses/${hasPages(endpoint) ? 'AnyOtherErrorPage' : 'AnyOtherError'}` },
    },
    // An endpoint with `spares` is deferred only in part, so it stays live.
    'x-status': endpoint.spares ? 'live' : statusOf(endpoint, switches),
    ...('role' in access && access.role ? { 'x-role': access.role } : {}),
    ...(price === undefined ? {} : pricedAs(price)),
    ...(endpoint.feature ? { 'x-deferred': { feature: endpoint.feature, replacement: replacementOf(endpoint) } } : {}),
  }
}

/** The price in souk's form, and in the form that x402 discovery tools read. */
function pricedAs(price: PaidAccess['price']): OpenApiNode {
  const currency = 'USD'
  const shown =
    price === 'varies'
      ? { mode: 'dynamic', currency, min: formatAmount(PRICE_STEP), max: formatAmount(MAX_PRICE) }
      : { mode: 'fixed', currency, amount: formatAmount(price) }
  return {
    'x-price': price === 'varies' ? price : formatPrice(price),
    'x-payment-info': { price: shown, protocols: [{ x402: {} }] },
  }
}

function success(endpoint: Endpoint, schemas: SchemaComponents, { answer }: AnswerExample): OpenApiNode {
  const always = headersNamed('X-Request-Id')
  const { reply } = endpoint
  switch (reply.kind) {
    case 'json':
      return {
        200: { description: 'OK', headers: repliesOf(endpoint), content: jsonOf(schemas.of(reply.schema), answer) },
        ...(isShared(endpoint) ? NOT_MODIFIED : {}),
      }
    case 'json_or_page':
      return {
        200: {
          description: 'OK',
          headers: always,
          content: { ...jsonOf(schemas.of(reply.schema), answer), ...pageMedia },
        },
      }
    case 'feed':
      return { 200: { description: 'OK', headers: repliesOf(endpoint), content: feedContent(reply, schemas, answer) } }
    case 'empty':
      return { 204: { description: 'No content', headers: always } }
    case 'bytes':
      return { ...ok(reply.contentType, answer), ...NOT_MODIFIED }
    case 'text':
      return { 200: { description: 'OK', headers: always, content: mediaOf(reply.contentType) } }
    case 'stream':
      return { 200: { description: 'OK', headers: always, content: mediaOf(reply.contentType) } }
    case 'file':
      return {
        ...download,
        206: { description: 'the requested range', headers: download[200].headers, content: download[200].content },
        ...NOT_MODIFIED,
        416: { description: 'range not satisfiable' },
      }
    case 'html':
      return { 200: { description: 'a page', headers: always, content: pageMedia } }
    case 'events':
      return eventStream(reply, schemas)
  }
}

const NOT_MODIFIED = { 304: { description: 'unchanged since the ETag in If-None-Match' } }

/** `content` for a media type. Parameters such as the charset are removed, since clients look up the bare type. */
function mediaOf(contentType: string, example?: unknown): OpenApiNode {
  return { [before(contentType, ';')]: example === undefined ? {} : { example } }
}

function repliesOf(endpoint: Endpoint): OpenApiNode {
  if (isShared(endpoint)) return headersNamed('X-Request-Id', 'ETag')
  return isPaid(endpoint)
    ? headersNamed('X-Request-Id', 'X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE', 'Idempotency-Replayed')
    : headersNamed('X-Request-Id')
}

function eventStream(reply: Extract<Reply, { kind: 'events' }>, schemas: SchemaComponents): OpenApiNode {
  const content = { 'text/event-stream': { schema: schemas.of(reply.schema) } }
  return { 200: { description: 'server-sent events', headers: headersNamed('X-Request-Id'), content } }
}

function feedContent({ schema, event }: FeedReply, schemas: SchemaComponents, answer: unknown): OpenApiNode {
  return { ...jsonOf(schemas.of(schema), answer), 'text/event-stream': { schema: schemas.of(event) } }
}

function ok(contentType: string, example: unknown): OpenApiNode {
  return {
    200: { description: 'OK', headers: headersNamed('X-Request-Id', 'ETag'), content: mediaOf(contentType, example) },
  }
}

const download = {
  200: {
    description: 'OK',
    headers: headersNamed('X-Request-Id', 'ETag', 'Repr-Digest', 'Content-Disposition'),
    content: { 'application/octet-stream': {} },
  },
}

function jsonOf(schema: OpenApiNode, example: unknown): OpenApiNode {
  return { 'application/json': example === undefined ? { schema } : { schema, example } }
}

function headersNamed(...names: readonly (keyof typeof headers)[]): OpenApiNode {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
