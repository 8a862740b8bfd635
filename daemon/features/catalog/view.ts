import { z } from 'zod'
import { Listing, type OwnListing, type Reputation } from '../../../src/api/sections/services.ts'
import { pick } from '../../../src/core/record.ts'
import type { ServiceType } from '../../../src/model/service.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { PLATFORM_FEE_PCT, PROVIDER_RECEIVES_PCT } from '../ledger/split.ts'
import { webhookStatusOf } from '../listings/liveness.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { splitOf } from '../listings/versions.ts'
import type { StandingRow } from '../reputation/rows.ts'
import { completionRate, NO_JOBS, standingOf } from '../reputation/score.ts'
import { readStandings, type Standings } from '../reputation/standings.ts'
import { type TrustAsked, trustOf } from '../reputation/trust.ts'

type ListingView = z.output<typeof Listing>

function reputationOf(standing: StandingRow | undefined): z.output<typeof Reputation> {
  const { dimensions, ...rest } = standingOf(standing?.sums ?? NO_JOBS)
  return { ...rest, dimensions: { ...dimensions } }
}

/** Members of both listing forms, the public one and the owner's (specification, Service listing). */
function sharedMembers(service: ServiceRow, provider: ParticipantRow) {
  const prices = splitOf(service)
  return {
    ...pick(service, Listing.shape),
    service_id: service.id,
    provider_name: provider.name,
    provider_type: provider.type === 'both' ? ('both' as const) : ('provider' as const),
    provider_verification_tier: provider.verification_tier,
    price: { fixed: service.price },
    status: service.status === 'active' ? ('active' as const) : ('inactive' as const),
    endpoint: `POST /v1/services/${service.id}/purchase`,
    platform_fee_pct: PLATFORM_FEE_PCT,
    agent_price: { fixed: prices?.agent ?? null },
    provider_net_price: { fixed: prices?.net ?? null },
    webhook_status: webhookStatusOf(service, provider),
  }
}

function newerMembers({ provider, service, byType }: Standings, type: ServiceType) {
  const counted = byType.filter(([, standing]) => standing !== undefined)
  const by_service_type = counted.map(([name, standing]) => {
    const { score, confidence, total_jobs } = reputationOf(standing)
    return [name, { score, confidence, total_jobs }] as const
  })
  return {
    provider_reputation: {
      ...reputationOf(provider),
      completion_rate: completionRate(provider?.sums ?? NO_JOBS),
      by_service_type: Object.fromEntries(by_service_type),
    },
    service_reputation: reputationOf(service),
    service_type_reputation: reputationOf(byType.find(([name]) => name === type)?.[1]),
  }
}

function olderMembers({ provider }: Standings) {
  const { score, confidence, is_new, dimensions, successful_jobs } = reputationOf(provider)
  return {
    provider_reputation: score,
    provider_confidence: confidence,
    provider_is_new: is_new,
    provider_dimensions: dimensions,
    provider_completed_jobs: successful_jobs,
    provider_completion_rate: completionRate(provider?.sums ?? NO_JOBS),
  }
}

export type ShownListing = TrustAsked & { readonly service: ServiceRow; readonly provider: ParticipantRow }

/** A listing as the catalog or its detail view shows it; the detail view always has the trust verdict. */
export async function listingView(t: ReadTx, shown: ShownListing, options: { detail: boolean }): Promise<ListingView> {
  const { service, provider } = shown
  const standings = await readStandings(t, service)
  const firstParty = service.first_party_slug !== null
  return {
    ...sharedMembers(service, provider),
    ...(service.form === 'newer' ? newerMembers(standings, service.service_type) : olderMembers(standings)),
    ...(service.first_party_slug === null
      ? {}
      : { first_party: true, slug: service.first_party_slug, provider_receives_pct: PROVIDER_RECEIVES_PCT }),
    ...(firstParty || options.detail ? { provider_trust: await trustOf(t, provider, shown) } : {}),
  }
}

export async function ownListingView(t: ReadTx, shown: ShownListing): Promise<z.output<typeof OwnListing>> {
  return { ...(await listingView(t, shown, { detail: true })), webhook_url: shown.service.webhook_url }
}

export function encodeListing(view: ListingView): string {
  return JSON.stringify(z.encode(Listing, view))
}
