import examples from '../../api/answer-examples.json' with { type: 'json' }
import { serviceFields } from '../../api/endpoint/list-fields.ts'
import type { WireAnswer } from '../../api/index.ts'
import { readAnswer } from '../../client/call.ts'
import type { Outcome } from '../../client/link.ts'
import { parseFilter, passesFilter } from '../../core/filter.ts'
import { type LinkCall, NOW } from '../cockpit.testkit.tsx'

const iso = (agoMs: number) => new Date(NOW - agoMs).toISOString()
const MINUTE_MS = 60_000

export const OWN = 'p_4b7000000000beef'

type Listing = WireAnswer<'getService'>
type Delivery = WireAnswer<'listDeliveries'>['deliveries'][number]

const known = await readAnswer('getService', examples.getService.answer)

/** What the market thinks of a provider. */
export function trusted(more: Partial<NonNullable<Listing['provider_trust']>>): Pick<Listing, 'provider_trust'> {
  const { provider_trust: trust } = known
  return trust === undefined ? {} : { provider_trust: { ...trust, ...more } }
}

/** A listing as the catalog has it; its number makes it another one. */
export function listing(number: number, more: Partial<Listing> = {}): Listing {
  const id = `svc_${String(number).padStart(16, '0')}`
  return {
    ...known,
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
    webhook_status: 'failing',
    provider_reputation: 71,
    provider_is_new: false,
    listed_at: iso(MINUTE_MS),
    ...more,
  }
}

/** As the operator's list has it: a week of sales, the last try at its endpoint a failure. */
export const selling = (one: Listing) => ({
  ...one,
  selling: {
    sold: 184,
    by_day: [20, 30, 28, 31, 25, 27, 23],
    refunded: 5,
    last_call: { at: iso(MINUTE_MS), status: 502, ms: 88, failures: 16 },
  },
})

/** What the market answers: pages of so many listings, searched by id, name and kind. */
export function catalogOf(count: number) {
  const all = Array.from({ length: count }, (_, i) => listing(i + 1))
  return ({ query = {} }: LinkCall): Outcome<unknown> => {
    const { limit = 20, offset = 0, filter = '' } = query
    const parsed = parseFilter(String(filter), serviceFields)
    if (!parsed.ok) throw new Error(parsed.problem)
    const found = all.filter(({ id, name, fulfillment_type: kind }) =>
      passesFilter(parsed.filter, { id, name, kind }, NOW),
    )
    const services = found.slice(Number(offset), Number(offset) + Number(limit))
    const page = { total: found.length, limit: Number(limit), offset: Number(offset), services: services.map(selling) }
    return { ok: true, value: page satisfies WireAnswer<'listAllServices'> }
  }
}

/** A message to the webhook of a listing, by what its tries were answered. */
export function delivery(serviceId: string, status: Delivery['status'], codes: readonly (number | null)[]): Delivery {
  const id = `whd_${codes.join('').padStart(16, '0')}`
  return {
    id,
    delivery_id: id,
    event_id: 'evt_0000000000000001',
    participant_id: OWN,
    job_id: null,
    next_attempt_at: null,
    ended_at: null,
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
