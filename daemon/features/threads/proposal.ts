import { DAY_MS } from '../../../src/core/time.ts'
import { type Proposal, type ProposalStatus, proposalStatuses } from '../../../src/model/thread.ts'
import { defineMachine } from '../../kernel/machine.ts'

/** A proposal can be accepted for this long, in business time (decisions §9). */
export const PROPOSAL_LIFE_MS = 7 * DAY_MS

/** Offered prices. One conversation has at most one that is open; what becomes of it when another comes is `superseded`. */
export const proposalMachine = defineMachine({
  noun: 'proposal',
  states: proposalStatuses,
  transitions: [
    { event: 'accept', from: ['open'], to: 'accepted', by: ['buyer'], effects: [] },
    { event: 'decline', from: ['open'], to: 'declined', by: ['buyer', 'provider'], effects: [] },
    { event: 'replace', from: ['open'], to: 'superseded', by: ['provider'], effects: [] },
    { event: 'expire', from: ['open'], to: 'expired', by: ['system'], effects: [] },
  ],
})

/** Where a proposal stands at a time: it expires by the clock alone, nothing has to write it down. */
export function proposalStatusAt({ status, expires_at }: Proposal, at: number): ProposalStatus {
  return status === 'open' && at >= expires_at ? 'expired' : status
}
