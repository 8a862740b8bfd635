import { transition } from '../../kernel/machine.ts'
import type { Draw, Tx } from '../../store/port.ts'
import type { JobRow } from '../jobs/rows.ts'
import { MAX_BIDS } from './bid.ts'
import {
  type BidRole,
  bidMachine,
  type PostingEvent,
  type PostingRole,
  postingMachine,
  postingStatusAt,
} from './machine.ts'
import { type BidRow, bids, emitBid, emitPosting, type PostingRow, postings } from './rows.ts'

type Step = {
  /** The request, locked by this transaction. */
  readonly posting: PostingRow
  readonly event: PostingEvent
  readonly by: PostingRole
  readonly at: number
  /** Time at which the caller asked for the step, if earlier than `at`. */
  readonly askedAt?: number
  readonly change?: Partial<Pick<PostingRow, 'awarded_bid_id' | 'job_id'>>
}

/**
 * The only way to change a request's state and its bids.
 * @throws AppError 409 invalid_transition. Nothing is written then.
 */
export async function stepPosting(t: Tx, draw: Draw, step: Step): Promise<PostingRow> {
  const { posting, event, by, at, askedAt = at, change = {} } = step
  // `expire` needs the stored status. For all other events, an overdue request counts as expired.
  const from = event === 'expire' ? posting.status : postingStatusAt(posting, askedAt)
  const { to, effects } = transition(postingMachine, { event, from, by })
  const { poster_suspended: _isOver, ...kept } = posting
  const changed = await t.table(postings).put({ ...kept, ...change, status: to, open: to === 'open', updated_at: at })
  if (effects.some((effect) => effect === 'reject_bids')) {
    await rejectBids(t, draw, { posting: changed, by: by === 'poster' ? 'poster' : 'system', at })
  }
  await emitPosting(t, draw, { posting: changed, type: `posting.${to}`, at })
  return changed
}

type Rejecting = { readonly posting: PostingRow; readonly by: BidRole; readonly at: number }

/** Rejects all submitted bids. An accepted bid is not among them. */
async function rejectBids(t: Tx, draw: Draw, { posting, by, at }: Rejecting): Promise<void> {
  const { rows } = await t.table(bids).page('live', [posting.id], { limit: MAX_BIDS })
  for (const { id } of rows) {
    const bid = await t.table(bids).getForUpdate(id)
    if (bid) await stepBid(t, draw, { bid, event: 'reject', by, at })
  }
}

type BidStep = { readonly bid: BidRow; readonly event: 'accept' | 'reject'; readonly by: BidRole; readonly at: number }

/** Changes the state of a locked bid and notifies its bidder. @throws AppError 409 invalid_transition */
export async function stepBid(t: Tx, draw: Draw, { bid, event, by, at }: BidStep): Promise<BidRow> {
  const { to } = transition(bidMachine, { event, from: bid.status, by })
  const changed = await t.table(bids).put({ ...bid, status: to, live: false, updated_at: at })
  await emitBid(t, draw, { bid: changed, type: `bid.${to}`, to: bid.provider_id, at })
  return changed
}

/** Event of a request after its job's money was released, split or refunded (decisions §9). */
const eventOf: Partial<Record<JobRow['escrow_status'], 'complete' | 'refund'>> = {
  released: 'complete',
  split: 'complete',
  refunded: 'refund',
}

/** Ends the request that led to a job. Call it in the transaction that moves the job's money. */
export async function followJob(t: Tx, draw: Draw, { job, at }: { readonly job: JobRow; readonly at: number }) {
  const event = eventOf[job.escrow_status]
  if (job.posting_id === null || event === undefined) return
  const posting = await t.table(postings).getForUpdate(job.posting_id)
  if (posting?.status !== 'awarded') throw new Error(`${job.id} belongs to ${job.posting_id}, which is not awarded`)
  await stepPosting(t, draw, { posting, event, by: 'system', at })
}
