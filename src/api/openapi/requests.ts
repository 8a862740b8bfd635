import type { z } from 'zod'
import { type AnyObject, isObject } from '../../core/json.ts'
import { maxPriceHeader } from '../endpoint/credentials.ts'
import { type Body, type Endpoint, isPaid, type MultipartBody, paramNames } from '../endpoint/define.ts'
import type { Api, EndpointName } from '../index.ts'
import { traceSignatureHeader, traceTimestampHeader } from '../sections/trace.ts'
import type { OpenApiNode, SchemaComponents } from './schemas.ts'
import { parameterText } from './words.ts'

/** Parameters outside the body. */
export function parameters(endpoint: Endpoint, schemas: SchemaComponents): OpenApiNode[] {
  return [...pathParameters(endpoint), ...queryParameters(endpoint, schemas), ...headerParameters(endpoint)]
}

function pathParameters(endpoint: Endpoint): OpenApiNode[] {
  return paramNames(endpoint.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    description: parameterText(name, endpoint.path),
    schema: { type: 'string' },
  }))
}

function queryParameters(endpoint: Endpoint, schemas: SchemaComponents): OpenApiNode[] {
  if (!endpoint.query) return []
  const { properties, required } = objectParts(schemas.of(endpoint.query))
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: (isObject(schema) ? schema.description : undefined) ?? parameterText(name, endpoint.path),
    schema,
  }))
}

function objectParts({ properties, required }: OpenApiNode): { properties: AnyObject; required: readonly unknown[] } {
  return { properties: isObject(properties) ? properties : {}, required: Array.isArray(required) ? required : [] }
}

function header(name: string, description: string): OpenApiNode {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

const idempotencyKey = header(
  'Idempotency-Key',
  'a repeat with the same key returns the stored response without a second charge',
)
const maxPrice = header(
  maxPriceHeader,
  'highest price to pay in dollars, such as 0.525; above it the response is 409 with the price, and nothing is charged',
)
/** Headers of a signature, the alternative to a key. */
const signature = [
  header(traceSignatureHeader, 'EIP-191 signature of the payer, if no key is sent'),
  header(traceTimestampHeader, 'unix seconds, within 300 of now; needed with a signature'),
]

function headerParameters(endpoint: Endpoint): OpenApiNode[] {
  if (isPaid(endpoint)) return [idempotencyKey, maxPrice]
  return endpoint.access.kind === 'key_or_signed' ? signature : []
}

/** The request body of an endpoint. A JSON body is not required if `{}` is valid. */
export function requestBody(name: EndpointName, body: Body, schemas: SchemaComponents): OpenApiNode {
  const example = bodyExamples[name]
  const media = (schema: OpenApiNode): OpenApiNode => (example === undefined ? { schema } : { schema, example })
  if (body.kind === 'multipart') return multipartBody(body, schemas.of(body.fields), media)
  const one = media(schemas.of(body.schema))
  const form = body.orForm ? { 'application/x-www-form-urlencoded': one } : {}
  return { required: !body.schema.safeParse({}).success, content: { 'application/json': one, ...form } }
}

function multipartBody(
  { maxFileBytes, orJson }: MultipartBody,
  fields: OpenApiNode,
  media: (schema: OpenApiNode) => OpenApiNode,
): OpenApiNode {
  const form = { 'multipart/form-data': { schema: withFile(fields, maxFileBytes) } }
  return { required: true, content: { ...form, ...(orJson ? { 'application/json': media(fields) } : {}) } }
}

/** Schema of a form: its fields, then the file. */
function withFile(fields: OpenApiNode, maxFileBytes: number): OpenApiNode {
  const { properties, required } = objectParts(fields)
  const description = `the last part of the form, at most ${maxFileBytes} bytes`
  return {
    ...fields,
    properties: { ...properties, file: { type: 'string', contentMediaType: 'application/octet-stream', description } },
    required: [...required, 'file'],
  }
}

type FieldsOf<E> = E extends { body: { kind: 'json'; schema: infer S extends z.ZodType } }
  ? z.input<S>
  : E extends { body: { kind: 'multipart'; fields: infer F extends z.ZodType } }
    ? z.input<F>
    : never

const service = 'svc_0123456789abcdef'
const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
const hash = `0x${'5f'.repeat(32)}`
/** Example of x402 v2 requirements that a server passes on to the facilitator. */
const requirements = {
  scheme: 'exact' as const,
  network: 'eip155:8453' as const,
  amount: '10000',
  asset: wallet,
  payTo: wallet,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}

const facilitated: FieldsOf<Api['verifyPayment']> = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    resource: { url: 'https://shop.example/report' },
    accepted: requirements,
    payload: {
      signature: `0x${'5f'.repeat(65)}`,
      authorization: {
        from: wallet,
        to: wallet,
        value: '10000',
        validAfter: '0',
        validBefore: '1769860860',
        nonce: hash,
      },
    },
  },
  paymentRequirements: requirements,
}
const listing: FieldsOf<Api['createService']> = {
  name: 'Word count',
  description: 'Counts the words of a text.',
  price: '0.50',
  fulfillment_type: 'automated',
  estimated_delivery: '5 minutes',
  category: 'text',
  tags: ['text'],
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  deliverable_schema: { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] },
}
const dispute = { reason: 'Half of it is missing.', category: 'quality' } as const
const delivery = { status: 'completed', deliverables: { words: 3 }, notes: 'Counted twice.' } as const
const order = { text: 'one two three' }
const why = { reason: 'the chain is slow' }

/** Example bodies; a test validates them. */
export const bodyExamples: { readonly [N in keyof Api]?: FieldsOf<Api[N]> } = {
  createService: listing,
  updateService: { price: '0.75', status: 'inactive' },
  purchaseService: order,
  siteAudit: { site_url: 'https://example.com' },
  securityPatch: { site_url: 'https://example.com' },
  contentWrite: { topic: 'Bees' },
  seoOptimize: { site_url: 'https://example.com' },
  designUpdate: { site_url: 'https://example.com' },
  maintenancePlan: { site_url: 'https://example.com' },
  inquire: { brief: { text: 'A book of 300 pages. How much?' } },
  register: { name: 'Word agent', type: 'agent' },
  onboardProvider: { name: 'Counter', services: [listing] },
  updateParticipant: { description: 'Counts words.', links: { home: 'https://example.com/' }, listable: true },
  linkIdentity: { agent_registry: `eip155:8453:${wallet}`, agent_id: 0 },
  consentToVerification: { token: 'from-the-consent-url', operator_name: 'Ada Lovelace', agree: true },
  receiveVendorCallback: { session_id: 'vs_1', decision: 'approved' },
  acceptTerms: { version: '2026-01-01' },
  postThreadMessage: { message: 'Which edition?' },
  uploadThreadFile: { message: 'The manuscript.' },
  proposePrice: { price: '2.00', message: 'By hand.', estimated_delivery: '3 days' },
  acceptPrice: {},
  declineThread: { reason: 'Found it myself.' },
  updateThread: delivery,
  verifyThread: { rating: 5, comment: 'Well done.' },
  disputeThread: dispute,
  postJobMessage: { message: 'When?' },
  answerForHouse: { message: 'Ten pages are fine.' },
  verifyJob: { rating: 5 },
  disputeJob: dispute,
  updateJob: { status: 'in_progress', progress: 50 },
  createPlan: { name: 'All words', price: '10.00', billing_period: 'monthly', service_ids: [service] },
  updatePlan: { price: '12.00' },
  cancelSubscription: { at_period_end: true },
  resumeSubscription: { keep: true },
  createPosting: { title: 'Count a book', brief: order, category: 'text', budget_max_usd: 20 },
  createBid: { price_usd: '8.00', eta_hours: 24, service_id: service, pitch: 'I count by hand.' },
  awardPosting: { bid_id: 'bid_0123456789abcdef' },
  setPostingNotifications: { min_budget_usd: 5, categories: ['text'] },
  createProduct: { name: 'A book', price: '5.00', category: 'books' },
  updateProduct: { price: '4.00' },
  purchaseProduct: {},
  deposit: { amount: '5.00' },
  setNamedService: { from: 'link_preview', price: '5.00' },
  withdrawBalance: { amount: '5.00' },
  withdrawReferrals: { to: 'wallet' },
  getReputations: { wallets: [wallet] },
  recordTrace: {
    event: {
      id: 'attempt-1',
      at: '2026-01-31T11:59:31Z',
      intent: {
        id: 'intent-1',
        payer: wallet,
        pay_to: wallet,
        amount: '10000',
        asset: wallet,
        network: 'base',
        resource: 'https://shop.example/v1/report',
        method: 'POST',
        nonce: hash,
        expires_at: '2026-01-31T12:00:00Z',
      },
      decision: null,
      outcome: 'abandoned',
      source: 'sdk',
    },
  },
  recordEvent: { event: 'subject_view' },
  pausePlatform: why,
  unpausePlatform: {},
  pauseEscrow: why,
  unpauseEscrow: {},
  setFeatures: { checkout_v2: true, reason: 'the new checkout is there' },
  moveClock: { advance_ms: 3_600_000 },
  resolveJob: { outcome: 'split', buyer_amount: '0.20', reason: 'half of it is there' },
  withdrawJob: { reason: 'the provider is gone' },
  rotateOperatorKey: { role: 'pay_to', key_file: '/etc/souk/pay-to-2027.key', leaked: true, reason: 'found in a log' },
  adjustBalance: { amount: '-2.50', reason: 'booked twice' },
  addSanction: { wallet, reason: 'court order' },
  faucet: { wallet, amount: '10.00' },
  openFaucet: { wallet },
  verifyPayment: facilitated,
  settlePayment: facilitated,
  setParticipant: { verification_tier: 'email_verified', reason: 'met in person' },
  decideVerification: { decision: 'approved', reason: 'papers seen' },
}
