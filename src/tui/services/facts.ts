import { dollars, microOf } from '../../text/money.ts'
import { type Fields, fields, list, number, text, time } from '../shell/read.ts'
import { type Member, readMembers } from './schema-facts.ts'

const TAGS_MAX = 20

export type Trust = { readonly verdict: string; readonly level: number; readonly levelName: string }

/** What the cockpit takes from a listing. Amounts are text like `$0.525`, empty where there is no fixed price. */
export type Service = {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly providerId: string
  readonly providerName: string
  readonly tier: string
  readonly kind: string
  readonly category: string
  readonly tags: readonly string[]
  readonly price: string
  readonly buyerPays: string
  readonly providerGets: string
  /** What the platform keeps of what the buyer pays. */
  readonly fee: string
  readonly feePercent: number | undefined
  readonly score: number | undefined
  readonly isNew: boolean
  readonly hookHealthy: boolean
  readonly hookUntried: boolean
  readonly trust: Trust | undefined
  readonly delivery: string
  readonly listedAt: number | undefined
  readonly input: readonly Member[]
  readonly result: readonly Member[]
  readonly raw: unknown
}

export function readService(value: unknown): Service {
  const listing = fields(value)
  const [buyerPays, providerGets] = [fixed(listing.agent_price), fixed(listing.provider_net_price)]
  const { provider_reputation: reputation, provider_trust: trust } = listing
  const score = number(reputation) ?? number(fields(reputation).score)
  return {
    id: text(listing.id),
    name: text(listing.name),
    description: text(listing.description),
    providerId: text(listing.provider_id),
    providerName: text(listing.provider_name),
    tier: text(listing.provider_verification_tier),
    kind: text(listing.fulfillment_type),
    category: text(listing.category),
    tags: list(listing.tags).slice(0, TAGS_MAX).map(text),
    price: fixed(listing.price),
    buyerPays,
    providerGets,
    fee: difference(buyerPays, providerGets),
    feePercent: number(listing.platform_fee_pct),
    score,
    isNew: listing.provider_is_new === true || fields(reputation).is_new === true,
    hookHealthy: listing.webhook_healthy !== false,
    hookUntried: listing.webhook_status === 'not_tried',
    trust: trust === undefined ? undefined : readTrust(fields(trust)),
    delivery: text(listing.estimated_delivery),
    listedAt: time(listing.listed_at),
    input: readMembers(listing.input_schema),
    result: readMembers(listing.deliverable_schema),
    raw: value,
  }
}

function fixed(price: unknown): string {
  return text(fields(price).fixed)
}

function difference(all: string, part: string): string {
  const [whole, rest] = [microOf(all), microOf(part)]
  return whole === undefined || rest === undefined || rest > whole ? '' : dollars(whole - rest)
}

function readTrust(trust: Fields): Trust {
  return { verdict: text(trust.verdict), level: number(trust.level) ?? 0, levelName: text(trust.level_name) }
}

/** A message to a webhook, and how its latest try went. */
export type Delivery = {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly serviceId: string
  readonly at: number | undefined
  readonly tries: number
  /** Of the latest try: the HTTP status, or why there was none. */
  readonly answer: string
  readonly url: string
}

export function readDelivery(value: unknown): Delivery {
  const delivery = fields(value)
  const attempts = list(delivery.attempts).map(fields)
  const last = fields(attempts.at(-1))
  const code = number(last.status)
  return {
    id: text(delivery.id),
    type: text(delivery.type),
    status: text(delivery.status),
    serviceId: text(delivery.service_id),
    at: time(last.at) ?? time(delivery.created_at),
    tries: attempts.length,
    answer: code === undefined ? text(last.error ?? delivery.reason) : String(code),
    url: text(delivery.url),
  }
}
