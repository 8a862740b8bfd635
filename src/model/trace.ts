import { z } from 'zod'
import { idOf, namedObject } from '../core/codecs.ts'
import { MAX_NAME_CHARS, MAX_URL_CHARS } from '../core/limits.ts'

const MAX_DETAIL_CHARS = 500
const MAX_LATENCY_MS = 86_400_000

// Kept verbatim, because the intent's hash covers it.
const Text = z.string().min(1).max(MAX_NAME_CHARS)
const AddressText = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')
const Hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes in hex')
const Atomic = z.string().regex(/^(?:0|[1-9]\d{0,77})$/, 'must be a whole number of atomic units, as text')
const When = z.iso.datetime({ offset: true, error: 'must be a time like 2026-01-31T12:00:00Z' })
const Url = z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS)

const traceOutcomes = ['allowed_paid', 'allowed_failed', 'denied', 'abandoned'] as const
const traceSources = ['sdk', 'mcp', 'cli', 'proxy', 'other'] as const

const Intent = namedObject('PaymentIntent', {
  id: Text,
  payer: AddressText,
  pay_to: AddressText,
  amount: Atomic,
  asset: AddressText,
  network: Text,
  resource: Url,
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD']),
  service_id: idOf('service').optional(),
  purpose: z.string().max(MAX_DETAIL_CHARS).optional(),
  nonce: Hash,
  expires_at: When,
})

const Decision = namedObject('DecisionReceipt', {
  id: Text,
  intent_hash: Hash.meta({ description: 'keccak-256 of the RFC 8785 form of the intent' }),
  verdict: z.enum(['allow', 'deny']),
  policy_id: Text,
  reason_code: Text,
  detail: z.string().max(MAX_DETAIL_CHARS).optional(),
  decided_at: When,
  issuer: Text,
  signature: z.string().max(MAX_DETAIL_CHARS).optional().meta({ description: "signature of the decision's issuer" }),
})

export const TraceEvent = namedObject('TraceEvent', {
  id: Text.meta({ description: 'chosen by the sender; sending the same event again returns the same response' }),
  at: When,
  intent: Intent,
  decision: Decision.nullable(),
  outcome: z.enum(traceOutcomes),
  source: z.enum(traceSources),
  payment: z
    .strictObject({
      tx_hash: Hash.optional(),
      authorization_nonce: Hash.optional(),
      amount: Atomic,
      network: Text,
      settled_at: When,
    })
    .optional(),
  result: z
    .strictObject({
      status: Text,
      job_id: idOf('job').optional(),
      http_status: z.int().min(100).max(599).optional(),
      error_code: Text.optional(),
      latency_ms: z.int().min(0).max(MAX_LATENCY_MS).optional(),
    })
    .optional(),
})
export type TraceEvent = z.infer<typeof TraceEvent>
