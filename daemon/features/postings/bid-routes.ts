import type { bidWritesApi } from '../../../src/api/sections/posting-writes.ts'
import type { bidsApi } from '../../../src/api/sections/postings.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler } from '../../endpoint/handler.ts'
import { commit } from '../../store/draw.ts'
import type { Handlers, PaidHandler } from '../payments/seller.ts'
import { award, checkAward, quoteAward } from './award.ts'
import { MAX_BIDS, placeBid, serviceOf, withdrawBid as withdraw } from './bid.ts'
import { bidStatusAt } from './machine.ts'
import { bids, mutexKey, postingById, refuseUnlessPoster } from './rows.ts'
import { bidView } from './view.ts'

/** Bids in order of creation. All bids of a request fit into one page. */
const listBids: FreeHandler<typeof bidsApi.listBids> = async ({ params, query }, { ctx, caller, now }) => {
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
}

const createBid: FreeHandler<typeof bidWritesApi.createBid> = async ({ params, body }, { ctx, caller, now }) => {
  const bidding = { postingId: params.id, body, bidder: caller, now }
  const { bid, ...around } = await commit(ctx, (t, draw) => placeBid(t, draw, bidding))
  return bidView(bid, { ...around, now })
}

const withdrawBid: FreeHandler<typeof bidWritesApi.withdrawBid> = ({ params }, { ctx, caller, now }) =>
  ctx.mutex.run(mutexKey(params.id), async () => {
    const withdrawing = { postingId: params.id, bidId: params.bidId, bidder: caller, now }
    const { bid, ...around } = await commit(ctx, (t, draw) => withdraw(t, draw, withdrawing))
    return bidView(bid, { ...around, now })
  })

const awardPosting: PaidHandler<typeof bidWritesApi.awardPosting> = {
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
}

export const bidRoutes: Handlers<typeof bidWritesApi & typeof bidsApi> = {
  createBid,
  withdrawBid,
  awardPosting,
  listBids,
}
