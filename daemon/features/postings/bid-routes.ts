import { z } from 'zod'
import type { bidWritesApi } from '../../../src/api/sections/posting-writes.ts'
import { Bid, type bidsApi, Posting, type PostingNotifications } from '../../../src/api/sections/postings.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { amountOf, formatAmount, usdc } from '../../../src/core/money.ts'
import { pick } from '../../../src/core/record.ts'
import type { Leg } from '../../../src/model/ledger.ts'
import type { FreeHandler } from '../../endpoint/handler.ts'
import { transition } from '../../kernel/machine.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { escrowPausedAt, refuseEscrowPaused } from '../jobs/buyer.ts'
import { openEscrowJob } from '../jobs/open.ts'
import type { JobRow } from '../jobs/rows.ts'
import { type Split, split } from '../ledger/legs.ts'
import type { ServiceRow } from '../listings/rows.ts'
import { saleKind, termsOf } from '../listings/versions.ts'
import type { PaymentRow } from '../payments/rows.ts'
import type { Handlers, Payer, Quote } from '../payments/seller.ts'
import { MAX_BIDS, placeBid, serviceOf, withdrawBid as withdraw } from './bid.ts'
import { stepBid, stepPosting } from './close.ts'
import { bidMachine, bidStatusAt, postingMachine, postingStatusAt } from './machine.ts'
import {
  type BidRow,
  bidById,
  bids,
  lockPosting,
  mutexKey,
  type OptInRow,
  type PostingRow,
  postingById,
  refuseHidden,
  refuseUnlessPoster,
  shownPosting,
} from './rows.ts'

const withdrawBid: FreeHandler<typeof bidWritesApi.withdrawBid> = ({ params }, { ctx, caller, now }) =>
  ctx.mutex.run(mutexKey(params.id), async () => {
    const withdrawing = { postingId: params.id, bidId: params.bidId, bidder: caller, now }
    const { bid, ...around } = await commit(ctx, (t, draw) => withdraw(t, draw, withdrawing))
    return bidView(bid, { ...around, now })
  })

export const bidRoutes: Handlers<typeof bidWritesApi & typeof bidsApi> = {
  createBid: async ({ params, body }, { ctx, caller, now }) => {
    const bidding = { postingId: params.id, body, bidder: caller, now }
    const { bid, ...around } = await commit(ctx, (t, draw) => placeBid(t, draw, bidding))
    return bidView(bid, { ...around, now })
  },

  withdrawBid,

  awardPosting: {
    serializeBy: ({ params }) => mutexKey(params.id),

    quote: ({ params, body }, { ctx, now }) =>
      ctx.store.read((t) => quoteAward(t, { postingId: params.id, bidId: body?.bid_id, now })),

    check: ({ params, body }, { ctx, payer, now }) =>
      ctx.store.read((t) => checkAward(t, { postingId: params.id, bidId: body.bid_id, payer, now })),

    async fulfil(t, draw, { input, payer, payment, source, baseUrl, now }) {
      const postingId = input.params.id
      const { job, bid, legs } = await award(t, draw, { postingId, payer, payment, source, baseUrl, now })
      return {
        kind: 'escrow_hold',
        ref: { kind: 'job', id: job.id },
        legs,
        answer: {
          posting_id: postingId,
          bid_id: bid.id,
          job_id: job.id,
          thread_id: job.thread_id,
          status: 'dispatched',
          service_id: job.service_id,
          status_url: `${baseUrl}/v1/jobs/${job.id}`,
          amount: job.amount,
          receipt_id: job.receipt_id,
        },
      }
    },
  },

  /** Bids in order of creation. All bids of a request fit into one page. */
  listBids: async ({ params, query }, { ctx, caller, now }) => {
    const { status, limit = DEFAULT_PAGE, offset = 0 } = query
    return ctx.store.read(async (t) => {
      const posting = await postingById(t, params.id)
      refuseUnlessPoster(posting, caller)
      const { rows } = await t.table(bids).page('posting', [posting.id], { limit: MAX_BIDS })
      const found = rows.filter((bid) => status === undefined || bidStatusAt(bid, { posting, now }) === status)
      const shown = found.slice(offset, offset + limit)
      const views = shown.map(async (bid) => bidView(bid, { posting, service: await serviceOf(t, bid), now }))
      return { bids: await Promise.all(views), total: found.length, limit, offset }
    })
  },
}

/** Quoted terms. The payment row stores them, so that they cannot change. */
const Terms = z.strictObject({ bid_id: z.string(), net: z.string(), fee: z.string() })

type AwardParams = { readonly postingId: string; readonly bidId: string | undefined; readonly now: number }

/**
 * Quotes an award. Without a bid id, quotes the maximum budget, because anyone may ask but only the poster sees bids.
 * @throws AppError 404, 409, 503
 */
async function quoteAward(t: ReadTx, { postingId, bidId, now }: AwardParams): Promise<Quote> {
  const posting = await shownPosting(t, postingId)
  refuseEscrowPaused(await escrowPausedAt(t))
  if (bidId === undefined) return budgetQuote(posting, now)
  const bid = await bidById(t, { id: bidId, postingId })
  const service = await awardable(t, { posting, bid, now })
  const prices = sharesOf(bid, service)
  return {
    price: prices.agent,
    settle: 'first',
    escrow: true,
    description: posting.title,
    terms: { bid_id: bid.id, net: formatAmount(prices.net), fee: formatAmount(prices.fee) },
  }
}

/** Shares as fixed when the bid was made. */
function sharesOf({ price, shares }: BidRow, service: ServiceRow): Split {
  return shares ? { ...shares, fee: usdc(shares.agent - shares.net) } : split(saleKind(service), price)
}

function budgetQuote(posting: PostingRow, now: number): Quote {
  transition(postingMachine, { event: 'award', from: postingStatusAt(posting, now), by: 'poster' })
  if (posting.bid_count === 0) throw new AppError('conflict', 'There is no bid on this request yet.')
  const description = `${posting.title} (at its maximum budget; send bid_id to pay the price of that bid)`
  return { price: posting.budget_max, settle: 'first', escrow: true, description }
}

type Pair = { readonly posting: PostingRow; readonly bid: BidRow; readonly now: number }

/** @throws AppError 409 unless the bid can be awarded */
async function awardable(t: ReadTx, { posting, bid, now }: Pair): Promise<ServiceRow> {
  refuseHidden(posting)
  transition(postingMachine, { event: 'award', from: postingStatusAt(posting, now), by: 'poster' })
  transition(bidMachine, { event: 'accept', from: bidStatusAt(bid, { posting, now }), by: 'poster' })
  const service = await serviceOf(t, bid)
  if (service.status !== 'active') throw new AppError('conflict', 'The listing of this bid is no longer active.')
  return service
}

/** Refuses an award before any charge. @throws AppError 400, 403, 404, 409, 503 */
async function checkAward(
  t: ReadTx,
  { postingId, bidId, payer, now }: AwardParams & { readonly payer: Payer },
): Promise<void> {
  const posting = await postingById(t, postingId)
  if (!payer.participant) {
    throw new AppError('registration_required', 'An award needs a registered wallet: POST /v1/register first.')
  }
  refuseUnlessPoster(posting, payer.participant)
  if (bidId === undefined) {
    throw invalidField('bid_id', 'required')
  }
  await awardable(t, { posting, bid: await bidById(t, { id: bidId, postingId }), now })
  refuseEscrowPaused(await escrowPausedAt(t))
}

type Paid = {
  readonly postingId: string
  readonly payer: Payer
  readonly payment: PaymentRow
  readonly source: string
  readonly baseUrl: string
  readonly now: number
}

/**
 * Opens the job of an awarded bid in the paying transaction, and rejects the other bids. The award is in time if the
 * payment was made before the request expired.
 * @throws AppError 409 when another award or an end of the request came first. The payment is then refunded.
 */
async function award(t: Tx, draw: Draw, paid: Paid): Promise<{ job: JobRow; bid: BidRow; legs: readonly Leg[] }> {
  const { postingId, payer, payment, source, baseUrl, now } = paid
  const terms = Terms.parse(payment.terms)
  const posting = await lockPosting(t, postingId)
  const bid = await t.table(bids).getForUpdate(terms.bid_id)
  if (!bid) throw new Error(`${payment.id} has no bid`)
  const askedAt = payment.created_at
  const service = await awardable(t, { posting, bid, now: askedAt })
  const { job, legs } = await openEscrowJob(t, draw, {
    service,
    terms: bid.terms ?? { ...termsOf(service), estimated_delivery: `${bid.eta_hours} hours` },
    payer,
    payment,
    source,
    split: { agent: payment.price, net: amountOf(terms.net), fee: amountOf(terms.fee) },
    input: posting.brief,
    postingId: posting.id,
    baseUrl,
    now,
  })
  const accepted = await stepBid(t, draw, { bid, event: 'accept', by: 'poster', at: now })
  const change = { awarded_bid_id: bid.id, job_id: job.id }
  await stepPosting(t, draw, { posting, event: 'award', by: 'poster', at: now, askedAt, change })
  return { job, bid: accepted, legs }
}

/** Public view of a request, with its status at `now`. */
export function postingView(row: PostingRow, now: number): z.output<typeof Posting> {
  return {
    ...pick(row, Posting.shape),
    posting_id: row.id,
    budget_min_usd: row.budget_min,
    budget_max_usd: row.budget_max,
    status: postingStatusAt(row, now),
    is_subcontract: row.parent_job_id !== null,
  }
}

type Around = { readonly posting: PostingRow; readonly service: ServiceRow; readonly now: number }

/** A bid as the poster and the bidder see it. */
export function bidView(row: BidRow, { posting, service, now }: Around): z.output<typeof Bid> {
  return {
    ...pick(row, Bid.shape),
    bid_id: row.id,
    price_usd: row.price,
    agent_price_usd: row.shares?.agent ?? split(saleKind(service), row.price).agent,
    status: bidStatusAt(row, { posting, now }),
  }
}

export function optInView(id: string, row: OptInRow | undefined): z.output<typeof PostingNotifications> {
  return {
    participant_id: id,
    enabled: row?.enabled ?? false,
    min_budget_usd: row?.min_budget ?? null,
    max_budget_usd: row?.max_budget ?? null,
    categories: row?.categories ?? [],
    consecutive_failures: row?.consecutive_failures ?? 0,
  }
}
