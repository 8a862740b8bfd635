import { type BidStatus, bidStatuses, type PostingStatus, postingStatuses } from '../../../src/model/words.ts'
import { defineMachine } from '../../kernel/machine.ts'
import type { BidRow, PostingRow } from './rows.ts'

/** Who acts on a request. `system` is a cron, or the job that the request led to. */
export const postingRoles = ['poster', 'provider', 'system'] as const
export type PostingRole = (typeof postingRoles)[number]

/**
 * Request state machine (decisions §9). Effects in the same transaction: `open_job` pays the bid's price into escrow,
 * `accept_bid` and `reject_bids` end the bids, `count_bid` adds 1 to the number of bids.
 */
export const postingMachine = defineMachine({
  noun: 'posting',
  states: postingStatuses,
  transitions: [
    { event: 'bid', from: ['open'], to: 'open', by: ['provider'], effects: ['count_bid'] },
    {
      event: 'award',
      from: ['open'],
      to: 'awarded',
      by: ['poster'],
      effects: ['open_job', 'accept_bid', 'reject_bids'],
    },
    { event: 'cancel', from: ['open'], to: 'cancelled', by: ['poster'], effects: ['reject_bids'] },
    { event: 'expire', from: ['open'], to: 'expired', by: ['system'], effects: ['reject_bids'] },
    { event: 'complete', from: ['awarded'], to: 'completed', by: ['system'], effects: [] },
    { event: 'refund', from: ['awarded'], to: 'cancelled', by: ['system'], effects: [] },
  ],
})

export type PostingTransition = (typeof postingMachine)['transitions'][number]
export type PostingEvent = PostingTransition['event']

/** Status of a request for work at the time `now`. An overdue one counts as expired even before the cron ran. */
export function postingStatusAt({ status, expires_at }: Pick<PostingRow, 'status' | 'expires_at'>, now: number) {
  return status === 'open' && expires_at <= now ? 'expired' : (status satisfies PostingStatus)
}

/** Who acts on a bid. `system` rejects the bids of expired requests. */
export const bidRoles = ['bidder', 'poster', 'system'] as const
export type BidRole = (typeof bidRoles)[number]

/** Bid state machine (decisions §9). `uncount` subtracts 1 from the shown number of bids. */
export const bidMachine = defineMachine({
  noun: 'bid',
  states: bidStatuses,
  transitions: [
    { event: 'withdraw', from: ['submitted'], to: 'withdrawn', by: ['bidder'], effects: ['uncount'] },
    { event: 'accept', from: ['submitted'], to: 'accepted', by: ['poster'], effects: [] },
    { event: 'reject', from: ['submitted'], to: 'rejected', by: ['poster', 'system'], effects: [] },
  ],
})

type Place = { readonly posting: Pick<PostingRow, 'status' | 'expires_at'>; readonly now: number }

/** Status of a bid at the time `now`. Bids of an expired request count as rejected. */
export function bidStatusAt({ status }: Pick<BidRow, 'status'>, { posting, now }: Place): BidStatus {
  return status === 'submitted' && postingStatusAt(posting, now) === 'expired' ? 'rejected' : status
}
