import { z } from 'zod'
import { Amount, Time } from '../../core/codecs.ts'
import { type ErrorCode, errorCodes } from '../../core/error.ts'
import { keysOf, tableOf } from '../../core/record.ts'
import { type Access, areas, type Endpoint, hasPages, isPaid } from '../endpoint/define.ts'
import { SignInExtensions } from '../endpoint/sign-in.ts'
import { PaymentRequired } from '../endpoint/x402.ts'
import type { OpenApiNode, SchemaComponents } from './schemas.ts'

const Detail = z
  .object({
    path: z.string().meta({ description: 'dotted path of the field; body or query if the error concerns all of it' }),
    message: z.string(),
  })
  .meta({ id: 'ErrorDetail' })

/** Error body (decisions §2). */
export const ErrorBody = z
  .object({
    error: z.string().meta({ description: 'one sentence: what happened, and what to do' }),
    code: z.string().meta({ description: 'for programs' }),
    message: z.string().meta({ description: 'the same sentence' }),
    request_id: z.string(),
    details: z.array(Detail).optional(),
    retry_after: z.number().optional().meta({ description: 'seconds' }),
  })
  .meta({ id: 'Error' })

/** RFC 9457 form, for `Accept: application/problem+json`. */
const Problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().meta({ description: 'phrase of the status, such as Not Found' }),
    status: z.int(),
    detail: z.string(),
    error: z.string().meta({ description: 'the same as `detail`' }),
    message: z.string().meta({ description: 'the same as `detail`' }),
    code: z.string(),
    request_id: z.string(),
    details: z.array(Detail).optional(),
    retry_after: z.number().optional().meta({ description: 'seconds' }),
  })
  .meta({ id: 'Problem' })

const pausedAt = { paused_at: Time.nullable().meta({ description: 'business time' }) }

/** Extra error members, by code (decisions §2). */
const promised: Partial<Record<ErrorCode, z.ZodRawShape>> = {
  invalid_transition: {
    from: z.string(),
    to: z.string().nullable(),
    allowed: z.array(z.string()).meta({ description: 'actions that are possible instead' }),
  },
  deferred: { feature: z.enum(areas), replacement: z.string().nullable() },
  paused: {
    ...pausedAt,
    reason: z.string().nullable().optional().meta({ description: 'reason given for the pause' }),
    feature: z.literal('escrow').optional(),
    retry_after: z.number(),
  },
  unauthorized: {
    extensions: SignInExtensions.optional().meta({ description: 'how a wallet can sign in instead of using a key' }),
  },
  terms_required: { terms_version: z.string(), terms_url: z.string() },
  quote_required: { inquire: z.string().meta({ description: 'the endpoint that asks for a quote' }) },
  rate_limited: { retry_after: z.number() },
  conflict: {
    price: Amount.optional().meta({ description: 'the price, if above X-Max-Price' }),
    max_price: Amount.optional(),
  },
}

const PAYMENT_CODES = ['payment_required', 'insufficient_balance'] as const
type PaymentCode = (typeof PAYMENT_CODES)[number]

function isPaymentCode(code: ErrorCode): code is PaymentCode {
  return PAYMENT_CODES.some((one) => one === code)
}

const Offer = PaymentRequired.extend({
  code: z.enum(PAYMENT_CODES),
  message: z.string(),
  request_id: z.string(),
  required: Amount.optional().meta({ description: 'with insufficient_balance' }),
  available: Amount.optional().meta({ description: 'with insufficient_balance' }),
}).meta({ ...PaymentRequired.meta() })

/** One schema per code, so that descriptions can list an endpoint's codes. */
const byCode = tableOf(keysOf(errorCodes), (code) =>
  ErrorBody.extend({ code: z.literal(code), ...promised[code] }).meta({
    id: `${code.replace(/(^|_)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())}Error`,
  }),
)

type Parts = { schemas: SchemaComponents; responses: Record<string, OpenApiNode>; offer?: unknown }

/** Error responses by status: shared components, except an endpoint's own 402. */
export function errorResponses(endpoint: Endpoint, parts: Parts): OpenApiNode {
  const codes = new Set<ErrorCode>([...gateErrors(endpoint), ...endpoint.errors])
  const byStatus = Map.groupBy([...codes].toSorted(), (code) => errorCodes[code].status)
  const refs = [...byStatus].map(([status, group]): [string, OpenApiNode] => {
    if (status === 402 && parts.offer !== undefined) return ['402', exemplified(group, parts.schemas, parts.offer)]
    const pages = hasPages(endpoint)
    const name = [`Error${status}`, ...group, ...(pages ? ['page'] : [])].join('.')
    parts.responses[name] ??= response(group, pages, parts.schemas)
    return [String(status), { $ref: `#/components/responses/${name}` }]
  })
  return Object.fromEntries(refs)
}

export const pageMedia = { 'text/html': { schema: { type: 'string' } } } as const

function response(group: readonly ErrorCode[], pages: boolean, schemas: SchemaComponents) {
  const plain = group.filter((code) => !isPaymentCode(code)).map((code) => schemas.of(byCode[code]))
  const bodies = [...plain, ...(plain.length < group.length ? [schemas.of(Offer)] : [])]
  return {
    description: group.join(', '),
    headers: headersOf(group),
    content: {
      'application/json': { schema: bodies.length === 1 ? bodies[0] : { anyOf: bodies } },
      ...(plain.length === 0 ? {} : { 'application/problem+json': { schema: schemas.of(Problem) } }),
      ...(pages ? pageMedia : {}),
    },
  }
}

/** A 402 with this endpoint's own offer as its example. */
function exemplified(group: readonly ErrorCode[], schemas: SchemaComponents, example: unknown): OpenApiNode {
  const { content, ...rest } = response(group, false, schemas)
  return { ...rest, content: { ...content, 'application/json': { ...content['application/json'], example } } }
}

function headersOf(group: readonly ErrorCode[]): OpenApiNode {
  return {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ...(group.some(isPaymentCode) ? { 'PAYMENT-REQUIRED': { $ref: '#/components/headers/PAYMENT-REQUIRED' } } : {}),
    ...(group.some((code) => code === 'paused' || code === 'rate_limited')
      ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }
      : {}),
  }
}

export function anyOtherError(schemas: SchemaComponents, also: OpenApiNode = {}): OpenApiNode {
  return {
    description: 'method_not_allowed, misdirected, request_timeout, headers_too_large, internal, unavailable',
    headers: headersOf([]),
    content: {
      'application/json': { schema: schemas.of(ErrorBody) },
      'application/problem+json': { schema: schemas.of(Problem) },
      ...also,
    },
  }
}

/** Errors by access. `unauthorized`: every endpoint may refuse a key. `forbidden`: wrong role or suspended. */
const ofDoor: Readonly<Record<Access['kind'], readonly ErrorCode[]>> = {
  open: ['unauthorized'],
  key: ['unauthorized', 'forbidden'],
  admin: ['unauthorized'],
  token: ['unauthorized'],
  key_or_signed: ['unauthorized', 'forbidden'],
  paid: ['unauthorized', 'forbidden', 'sanctioned'],
  key_or_paid: ['unauthorized', 'forbidden', 'sanctioned'],
}

/** Errors of any payment. `conflict`: the payment was used before, and its response is gone. */
const ofPayment: readonly ErrorCode[] = [
  'payment_required',
  'insufficient_balance',
  'conflict',
  'idempotency_mismatch',
  'paused',
  'unavailable',
]

function gateErrors(endpoint: Endpoint): ErrorCode[] {
  return [
    'rate_limited',
    ...accessErrors(endpoint),
    'invalid_request', // two keys that differ, at any endpoint
    // Paid endpoints read even a body that they do not declare, because the fingerprint covers it.
    ...(endpoint.body || isPaid(endpoint) ? (['too_large', 'unsupported_media_type'] as const) : []),
    ...(endpoint.feature ? (['deferred'] as const) : []),
    ...(endpoint.needsTerms ? (['terms_required'] as const) : []),
    ...(endpoint.switch ? (['not_found'] as const) : []),
  ]
}

function accessErrors(endpoint: Endpoint): readonly ErrorCode[] {
  const { access } = endpoint
  if (!isPaid(endpoint)) return ofDoor[access.kind]
  const isBalanceTaken = !('x402Only' in access && access.x402Only)
  return [...ofDoor[access.kind], ...ofPayment.filter((code) => code !== 'insufficient_balance' || isBalanceTaken)]
}
