import type { NewBid } from '../../../src/api/sections/posting-writes.ts'
import { AppError, existing, invalidField } from '../../../src/core/error.ts'
import { formatPrice, type Usdc, usdc } from '../../../src/core/money.ts'
import { parsePrice } from '../../../src/core/price.ts'
import { transition } from '../../kernel/machine.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, refuseSuspendedNow } from '../../kernel/rows.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { split } from '../ledger/legs.ts'
import { type ServiceRow, services } from '../listings/rows.ts'
import { saleKind, termsOf } from '../listings/versions.ts'
import { bidMachine, bidStatusAt, postingMachine, postingStatusAt } from './machine.ts'
import {
  type BidRow,
  bidById,
  bids,
  emitBid,
  lockPosting,
  type OptInRow,
  type PostingRow,
  postings,
  refuseHidden,
} from './rows.ts'

/** Largest amount for which unverified providers may bid (decisions §9). */
export const UNVERIFIED_MAX_BUDGET = usdc(25_000_000n)

/** Whether a provider of this tier may handle an amount, such as a maximum budget or a bid. */
export function isWithinTier(tier: ParticipantRow['verification_tier'], amount: Usdc): boolean {
  return tier !== 'unverified' || amount <= UNVERIFIED_MAX_BUDGET
}

type Wish = Pick<OptInRow, 'enabled' | 'min_budget' | 'max_budget' | 'categories'>

/** Whether a request matches an opt-in, by maximum budget and category. */
export function isWished(wish: Wish, { budget_max, category }: Pick<PostingRow, 'budget_max' | 'category'>): boolean {
  if (!wish.enabled) return false
  if (wish.min_budget !== null && budget_max < wish.min_budget) return false
  if (wish.max_budget !== null && budget_max > wish.max_budget) return false
  return wish.categories.length === 0 || wish.categories.includes(category)
}

/** Maximum bids per request, including withdrawn bids. `MAX_BIDS_PER_PROVIDER` limits those of one provider. */
export const MAX_BIDS = 500
export const MAX_BIDS_PER_PROVIDER = 10

/** A bid with the request and the listing that its view needs. */
export type PlacedBid = { readonly bid: BidRow; readonly posting: PostingRow; readonly service: ServiceRow }

type Bidding = {
  readonly postingId: string
  readonly body: NewBid
  readonly bidder: ParticipantRow
  readonly now: number
}

/** @throws AppError 400 for a bad price or service, 403 for the tier, 404, 409 */
export async function placeBid(t: Tx, draw: Draw, { postingId, body, bidder, now }: Bidding): Promise<PlacedBid> {
  const posting = await lockPosting(t, postingId)
  refuseHidden(posting)
  await refuseSuspendedNow(t, bidder.id)
  const price = parsePrice(body.price_usd, 'price_usd')
  if (posting.poster_id === bidder.id) throw new AppError('conflict', 'You cannot bid on your own request.')
  transition(postingMachine, { event: 'bid', from: postingStatusAt(posting, now), by: 'provider' })
  refuseTier(bidder, posting, price)
  const service = await ownService(t, body.service_id, bidder)
  await refuseFurtherBid(t, posting, bidder)
  const { agent, net } = split(saleKind(service), price)
  const bid = await t.table(bids).insert({
    id: draw.id('bid'),
    posting_id: posting.id,
    provider_id: bidder.id,
    service_id: service.id,
    price,
    shares: { agent, net },
    terms: { ...termsOf(service), estimated_delivery: `${body.eta_hours} hours` },
    eta_hours: body.eta_hours,
    pitch: body.pitch ?? '',
    status: 'submitted',
    live: true,
    created_at: now,
    updated_at: now,
  })
  const counted = await t.table(postings).put({ ...posting, bid_count: posting.bid_count + 1, updated_at: now })
  await emitBid(t, draw, { bid, type: 'bid.submitted', to: posting.poster_id, at: now })
  return { bid, posting: counted, service }
}

function refuseTier({ verification_tier: tier }: ParticipantRow, posting: PostingRow, price: Usdc): void {
  if (isWithinTier(tier, posting.budget_max) && isWithinTier(tier, price)) return
  const limit = formatPrice(UNVERIFIED_MAX_BUDGET)
  throw new AppError('forbidden', `Unverified providers bid up to ${limit}, on budgets up to ${limit}: verify first.`, {
    extra: { verification_tier: tier },
  })
}

/** @throws AppError 400 unless the id names an active listing of the bidder */
async function ownService(t: ReadTx, id: string, bidder: ParticipantRow): Promise<ServiceRow> {
  const service = await t.table(services).get(id)
  if (service?.provider_id !== bidder.id || service.status !== 'active') {
    throw invalidField('service_id', 'must be one of your active listings')
  }
  return service
}

async function refuseFurtherBid(t: ReadTx, posting: PostingRow, bidder: ParticipantRow): Promise<void> {
  const mine = [posting.id, bidder.id]
  if ((await t.table(bids).count('live', mine)) > 0) {
    throw new AppError('conflict', 'You have a bid on this request already: withdraw it first.')
  }
  if ((await t.table(bids).count('bidder', mine)) >= MAX_BIDS_PER_PROVIDER) {
    throw new AppError('conflict', `You have bid on this request ${MAX_BIDS_PER_PROVIDER} times.`)
  }
  if ((await t.table(bids).count('posting', [posting.id])) >= MAX_BIDS) {
    throw new AppError('conflict', `This request has reached the limit of ${MAX_BIDS} bids.`)
  }
}

type Withdrawing = {
  readonly postingId: string
  readonly bidId: string
  readonly bidder: ParticipantRow
  readonly now: number
}

/** @throws AppError 403, 404, 409 invalid_transition */
export async function withdrawBid(
  t: Tx,
  draw: Draw,
  { postingId, bidId, bidder, now }: Withdrawing,
): Promise<PlacedBid> {
  const posting = await lockPosting(t, postingId)
  await bidById(t, { id: bidId, postingId })
  const bid = existing(await t.table(bids).getForUpdate(bidId), 'The bid')
  if (bid.provider_id !== bidder.id) throw notYours('The bid')
  const { to } = transition(bidMachine, { event: 'withdraw', from: bidStatusAt(bid, { posting, now }), by: 'bidder' })
  const changed = await t.table(bids).put({ ...bid, status: to, live: false, updated_at: now })
  const counted = await t.table(postings).put({ ...posting, bid_count: posting.bid_count - 1, updated_at: now })
  await emitBid(t, draw, { bid: changed, type: 'bid.withdrawn', to: posting.poster_id, at: now })
  return { bid: changed, posting: counted, service: await serviceOf(t, changed) }
}

export async function serviceOf(t: ReadTx, bid: BidRow): Promise<ServiceRow> {
  const service = await t.table(services).get(bid.service_id)
  if (!service) throw new Error(`${bid.id} has no service`)
  return service
}
