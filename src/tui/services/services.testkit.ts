import type { LinkCall, Outcome } from '../../client/link.ts'
import { NOW } from '../cockpit.testkit.tsx'

const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString()
const MINUTE_MS = 60_000

export const OWN = 'p_4b7000000000beef'

/** A listing as the catalog has it; its number makes it another one. */
export function listing(number: number, more: object = {}) {
  const id = `svc_${String(number).padStart(16, '0')}`
  return {
    id,
    service_id: id,
    provider_id: OWN,
    provider_name: 'Lingua',
    provider_verification_tier: 'email_verified',
    name: `Translation ${number}`,
    description: 'Translates a text.',
    price: { fixed: '$0.25' },
    agent_price: { fixed: '$0.2625' },
    provider_net_price: { fixed: '$0.25' },
    platform_fee_pct: 5,
    fulfillment_type: 'automated',
    estimated_delivery: '5 minutes',
    category: 'text',
    tags: ['language'],
    input_schema: {
      type: 'object',
      required: ['text'],
      properties: { text: { type: 'string', maxLength: 50_000 }, target: { enum: ['de', 'fr'] } },
    },
    deliverable_schema: { translation: { type: 'object', properties: { text: { type: 'string' } } } },
    webhook_healthy: false,
    provider_reputation: { score: 71, is_new: false },
    listed_at: iso(MINUTE_MS),
    ...more,
  }
}

/** What the catalog answers: pages of so many listings, searched by name. */
export function catalogOf(count: number) {
  const all = Array.from({ length: count }, (_, i) => listing(i + 1))
  return ({ query = {} }: LinkCall): Outcome<unknown> => {
    const { limit = 20, offset = 0, q = '' } = query
    const found = all.filter(({ name }) => name.includes(String(q)))
    const services = found.slice(Number(offset), Number(offset) + Number(limit))
    return { ok: true, value: { total: found.length, limit, offset, services } }
  }
}

/** A message to the webhook of a listing, by what its tries were answered. */
export function delivery(serviceId: string, status: string, codes: readonly (number | null)[]) {
  return {
    id: `whd_${codes.join('')}`,
    type: 'job.dispatched',
    status,
    reason: null,
    service_id: serviceId,
    url: 'http://127.0.0.1:9000/hook',
    created_at: iso(3 * MINUTE_MS),
    attempts: codes.map((code) => ({
      at: iso(3 * MINUTE_MS),
      status: code,
      latency_ms: 5,
      error: code === null ? 'connect ECONNREFUSED' : null,
      response_excerpt: '',
    })),
  }
}
