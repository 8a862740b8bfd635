import { type BidStatus, bidStatuses } from '../../../src/model/posting.ts'
import { defineMachine } from '../../kernel/machine.ts'
import { postingStatusAt } from './machine.ts'
import type { BidRow, PostingRow } from './rows.ts'

/** Who acts on a bid; `system` ends those of a posting that nobody awarded. */
export const bidRoles = ['bidder', 'poster', 'system'] as const
export type BidRole = (typeof bidRoles)[number]

/** Bids (decisions §9); `uncount` takes one out of what the posting shows. */
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

/** Where a bid stands at a time: with a posting that has expired, it is rejected. */
export function bidStatusAt({ status }: Pick<BidRow, 'status'>, { posting, now }: Place): BidStatus {
  return status === 'submitted' && postingStatusAt(posting, now) === 'expired' ? 'rejected' : status
}
