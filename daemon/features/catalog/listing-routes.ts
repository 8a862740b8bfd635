import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { Listing, type listingsApi, type OwnListing, type Reputation } from '../../../src/api/sections/services.ts'
import { AppError, notFound } from '../../../src/core/error.ts'
import { isObject } from '../../../src/core/json.ts'
import { pick } from '../../../src/core/record.ts'
import type { ServiceType } from '../../../src/model/service.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { schemas } from '../../engines/schemas.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, providerOf, refuseSuspendedNow } from '../../kernel/rows.ts'
import { refuseUnsendable } from '../../kernel/web.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { jobs } from '../jobs/rows.ts'
import { PLATFORM_FEE_PCT, PROVIDER_RECEIVES_PCT } from '../ledger/legs.ts'
import { changedListing, readListing } from '../listings/input.ts'
import { stillGood } from '../listings/quote-window.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { editedListing, splitOf } from '../listings/versions.ts'
import { addListing, endpointUrl, putListing, untried, webhookStatusOf, withLiveness } from '../listings/write.ts'
import { bidStatusAt } from '../postings/machine.ts'
import { bids, postings } from '../postings/rows.ts'
import { type TrustAsked, trustOf } from '../reputation/routes.ts'
import type { StandingRow } from '../reputation/rows.ts'
import { completionRate, NO_JOBS, standingOf } from '../reputation/score.ts'
import { readStandings, type Standings } from '../reputation/standings.ts'
import { refuseCovered } from '../subscriptions/coverage.ts'
import { PROPOSAL_LIFE_MS, proposalStatusAt } from '../threads/messages.ts'
import { threads } from '../threads/rows.ts'
import { breakEvenNote } from './break-even.ts'

/** Maximum conversations, and bids, searched for an open one. With more, the listing counts as having an open one. */
const LOOKED_AT = 1_000

type Times = { readonly now: number; readonly wall: number }
type KindChange = { readonly held: ServiceRow; readonly changed: ServiceRow } & Times

/**
 * Refuses edits that break a promise to subscribers in a paid period, or in an open job, proposal or bid.
 * @throws AppError 409, which says what to do instead
 */
async function refuseBrokenPromise(t: ReadTx, { held, changed, now, wall }: KindChange): Promise<void> {
  const covered = { id: held.id, now }
  if (held.status === 'active' && changed.status === 'inactive') await refuseCovered(t, covered, 'be made inactive')
  if (!takesAll(held.input_schema, changed.input_schema)) await refuseCovered(t, covered, 'restrict its input')
  const isSameKind = held.service_type === changed.service_type && held.fulfillment_type === changed.fulfillment_type
  if (isSameKind) return
  await refuseCovered(t, covered, 'change in kind')
  const open = await openAbout(t, held.id, { now, wall })
  if (open === undefined) return
  throw new AppError(
    'conflict',
    `service_type and fulfillment_type cannot change while ${open} on this listing is open: close it first, or create another listing.`,
  )
}

/** Whether the new schema accepts all input of the old one. True only if at most optional members were added. */
function takesAll(before: ServiceRow['input_schema'], after: ServiceRow['input_schema']): boolean {
  if (after === null || isDeepStrictEqual(before, after)) return true
  if (before === null || !isObject(before.properties) || !isObject(after.properties)) return false
  const added = Object.keys(after.properties).filter((name) => !Object.hasOwn(before.properties as object, name))
  const properties = Object.fromEntries(Object.entries(after.properties).filter(([name]) => !added.includes(name)))
  return isDeepStrictEqual(before, { ...after, properties })
}

/** Describes an open job, proposal or bid of a listing; undefined if there is none. */
async function openAbout(t: ReadTx, id: string, times: Times): Promise<string | undefined> {
  const [job] = (await t.table(jobs).page('service_open', [id], { limit: 1 })).rows
  if (job) return `the job ${job.id}`
  return (await openProposal(t, id, times)) ?? (await openBid(t, id, times))
}

async function openProposal(t: ReadTx, id: string, { now, wall }: Times): Promise<string | undefined> {
  const { rows, more } = await t.table(threads).page('service_negotiating', [id], { limit: LOOKED_AT })
  // Rows are sorted newest first. If the last one read is too old for an open proposal, so are the rest.
  const found = rows.find(({ proposal, previous }) =>
    [proposal, stillGood(previous, wall)].some((one) => one && proposalStatusAt(one, now) === 'open'),
  )
  if (found) return `the proposal of ${found.id}`
  const last = rows.at(-1)
  return more && last && last.updated_at > now - PROPOSAL_LIFE_MS ? 'a proposal' : undefined
}

async function openBid(t: ReadTx, id: string, { now }: Times): Promise<string | undefined> {
  const { rows, more } = await t.table(bids).page('service_live', [id], { limit: LOOKED_AT })
  for (const bid of rows) {
    const posting = await t.table(postings).get(bid.posting_id)
    if (posting && bidStatusAt(bid, { posting, now }) === 'submitted') return `the bid ${bid.id}`
  }
  return more ? 'a bid' : undefined
}

export const listingRoutes: FreeHandlers<typeof listingsApi> = {
  createService: async ({ body }, { ctx, caller, now }) => {
    refuseUnsendable(ctx, body.webhook_url)
    await schemas.of(ctx).refuseBroken(body, { who: caller.id })
    const fields = readListing(body)
    const row = await commit(ctx, (t, draw) => addListing(t, draw, { provider: caller, fields, now }))
    const view = await ownListingView(ctx.store, { service: row, provider: caller, now, baseUrl: ctx.baseUrl() })
    return { ...view, ...(await breakEvenNote(ctx, row)) }
  },

  updateService: async ({ params, body }, { ctx, caller, now, wall }) => {
    refuseUnsendable(ctx, body.webhook_url)
    await schemas.of(ctx).refuseBroken(body, { who: caller.id })
    const row = await commit(ctx, async (t, draw) => {
      await refuseSuspendedNow(t, caller.id)
      const locked = await ownListing(t, params.id, caller)
      const wanted = { ...changedListing(locked, body), updated_at: now }
      await refuseBrokenPromise(t, { held: locked, changed: wanted, now, wall })
      const changed = editedListing(locked, wanted, wall)
      return putListing(t, draw, await followedEndpoint(t, { held: locked, changed, now }))
    })
    return ownListingView(ctx.store, { service: row, provider: caller, now, baseUrl: ctx.baseUrl() })
  },

  /** The row stays with status `deleted`, because jobs and receipts refer to it. */
  deleteService: async ({ params }, { ctx, caller, now }) => {
    await commit(ctx, async (t, draw) => {
      const locked = await ownListing(t, params.id, caller)
      await refuseCovered(t, { id: locked.id, now }, 'be removed')
      await putListing(t, draw, { ...locked, status: 'deleted', updated_at: now })
    })
    return { id: params.id, service_id: params.id, deleted: true }
  },
}

type Edit = { readonly held: ServiceRow; readonly changed: ServiceRow; readonly now: number }

/** The changed listing. A new endpoint starts without health history. */
async function followedEndpoint(t: Tx, { held, changed, now }: Edit): Promise<ServiceRow> {
  const provider = await providerOf(t, held)
  const url = endpointUrl(changed, provider)
  const isSame = url === endpointUrl(held, provider) && changed.fulfillment_type === held.fulfillment_type
  return isSame ? changed : withLiveness(changed, await untried(t, changed, { url, now }))
}

/** Locks a listing of the caller. @throws AppError 404 if there is no such listing, 403 if another provider owns it. */
async function ownListing(t: Tx, id: string, caller: ParticipantRow): Promise<ServiceRow> {
  const row = await t.table(services).getForUpdate(id)
  if (!row || row.status === 'deleted') throw notFound('The service')
  if (row.provider_id !== caller.id) throw notYours('The service')
  return row
}

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

type ShownListing = TrustAsked & { readonly service: ServiceRow; readonly provider: ParticipantRow }

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
