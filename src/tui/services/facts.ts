import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { dollars, microOf } from '../../text/columns.ts'
import { text, time } from '../shell/read.ts'
import { readMembers } from './schema-facts.ts'

const TAGS_MAX = 20

type Listed = WireAnswer<Api['listAllServices']>['services'][number]
export type AnyListing = WireAnswer<Api['getService']> | WireAnswer<Api['getCatalog']>['services'][number] | Listed

/** A listing's displayed fields. Amounts are like `$0.525`, empty without a fixed price. */
export type ServiceFacts = ReturnType<typeof readService>

export function readService(listing: AnyListing) {
  const [buyerPays, providerGets] = [fixed(listing.agent_price), fixed(listing.provider_net_price)]
  const { provider_reputation: reputation, provider_trust: trust } = listing
  const rated = typeof reputation === 'object' ? reputation : null
  return {
    id: listing.id,
    name: text(listing.name),
    description: text(listing.description),
    providerId: listing.provider_id,
    providerName: text(listing.provider_name),
    tier: listing.provider_verification_tier,
    kind: listing.fulfillment_type,
    type: listing.service_type,
    hook: listing.webhook_status,
    category: text(listing.category),
    tags: listing.tags.slice(0, TAGS_MAX).map(text),
    price: fixed(listing.price),
    buyerPays,
    providerGets,
    /** What the marketplace keeps of the buyer's price. */
    fee: difference(buyerPays, providerGets),
    feePercent: listing.platform_fee_pct,
    score: (typeof reputation === 'number' ? reputation : rated?.score) ?? undefined,
    isNew: listing.provider_is_new === true || rated?.is_new === true,
    hookHealthy: listing.webhook_healthy,
    hookUntried: listing.webhook_status === 'not_tried',
    trust: trust && { verdict: trust.verdict, level: trust.level, levelName: text(trust.level_name) },
    delivery: text(listing.estimated_delivery),
    /** Sales figures, which only the operator's list has. */
    selling: 'selling' in listing ? listing.selling : undefined,
    listedAt: time(listing.listed_at),
    input: readMembers(listing.input_schema),
    result: readMembers(listing.deliverable_schema),
    raw: listing,
  }
}

function fixed(price: { readonly fixed: string | null }): string {
  return text(price.fixed)
}

function difference(all: string, part: string): string {
  const [whole, rest] = [microOf(all), microOf(part)]
  return whole === undefined || rest === undefined || rest > whole ? '' : dollars(whole - rest)
}
