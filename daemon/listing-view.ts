import { z } from 'zod'
import { Listing, type OwnListing, type Reputation, type Trust } from '../src/api/services.ts'
import type { ParticipantRow } from '../src/model/participant.ts'
import type { ServiceRow } from '../src/model/service.ts'
import { PLATFORM_FEE_PCT, PROVIDER_RECEIVES_PCT, type SaleKind, type Split, split } from './rules/pricing.ts'

type ListingView = z.output<typeof Listing>
type ReputationView = z.output<typeof Reputation>

/** Score and dimensions of a subject without jobs (specification, Reputation object). */
const NEW_SCORE = 75

export function saleKind(service: Pick<ServiceRow, 'first_party_slug'>): SaleKind {
  return service.first_party_slug === null ? 'third_party' : 'first_party'
}

/** How a listing's price divides; undefined under `quote_required` without one. */
export function splitOf(service: ServiceRow): Split | undefined {
  return service.price === null ? undefined : split(saleKind(service), service.price)
}

function newReputation(): ReputationView {
  return {
    score: NEW_SCORE,
    confidence: 0,
    is_new: true,
    dimensions: { quality: NEW_SCORE, speed: NEW_SCORE, reliability: NEW_SCORE, communication: NEW_SCORE },
    total_jobs: 0,
    successful_jobs: 0,
    failed_jobs: 0,
    disputed_jobs: 0,
  }
}

/** Members that both listing forms show (specification, Service listing). */
function sharedMembers(service: ServiceRow, provider: ParticipantRow) {
  const prices = splitOf(service)
  return {
    id: service.id,
    service_id: service.id,
    provider_id: provider.id,
    provider_name: provider.name,
    provider_type: provider.type === 'both' ? ('both' as const) : ('provider' as const),
    provider_verification_tier: provider.verification_tier,
    name: service.name,
    description: service.description,
    price: { fixed: service.price },
    pricing_model: service.pricing_model,
    service_type: service.service_type,
    fulfillment_type: service.fulfillment_type,
    estimated_delivery: service.estimated_delivery,
    input_schema: service.input_schema,
    deliverable_schema: service.deliverable_schema,
    category: service.category,
    tags: service.tags,
    status: service.status === 'active' ? ('active' as const) : ('inactive' as const),
    listed_at: service.listed_at,
    updated_at: service.updated_at,
    endpoint: `POST /v1/services/${service.id}/purchase`,
    platform_fee_pct: PLATFORM_FEE_PCT,
    agent_price: { fixed: prices?.agent ?? null },
    provider_net_price: { fixed: prices?.net ?? null },
    webhook_healthy: service.webhook_healthy,
  }
}

function newerMembers() {
  const { dimensions, ...rest } = newReputation()
  return {
    provider_reputation: { ...rest, dimensions, completion_rate: null, by_service_type: {} },
    service_reputation: newReputation(),
    service_type_reputation: newReputation(),
  }
}

function olderMembers() {
  const { score, confidence, is_new, dimensions } = newReputation()
  return {
    provider_reputation: score,
    provider_confidence: confidence,
    provider_is_new: is_new,
    provider_dimensions: dimensions,
    provider_completed_jobs: 0,
    provider_completion_rate: null,
  }
}

function unknownTrust(provider: ParticipantRow): z.output<typeof Trust> {
  return {
    verdict: 'unknown',
    level: 0,
    level_name: 'indexed',
    confidence: 0,
    sandbox_verified: false,
    disputed: false,
    risk_flags: [],
    issued_at: null,
    expires_at: null,
    subject_id: provider.id,
    subject_count: 1,
    trust_url: null,
    first_party: provider.first_party,
    score: null,
    is_new: true,
  }
}

/** A listing as catalog and detail show it; the detail always carries the trust verdict. */
export function listingView(service: ServiceRow, provider: ParticipantRow, options: { detail: boolean }): ListingView {
  const firstParty = service.first_party_slug !== null
  return {
    ...sharedMembers(service, provider),
    ...(service.form === 'newer' ? newerMembers() : olderMembers()),
    ...(firstParty ? { first_party: true, provider_receives_pct: PROVIDER_RECEIVES_PCT } : {}),
    ...(firstParty || options.detail ? { provider_trust: unknownTrust(provider) } : {}),
  }
}

/** A listing as its owner sees it. */
export function ownListingView(service: ServiceRow, owner: ParticipantRow): z.output<typeof OwnListing> {
  return { ...listingView(service, owner, { detail: true }), webhook_url: service.webhook_url }
}

/** Encoded form of a listing. */
export function encodeListing(view: ListingView): Buffer {
  return Buffer.from(JSON.stringify(z.encode(Listing, view)))
}
