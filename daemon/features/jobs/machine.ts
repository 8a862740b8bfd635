import { compact } from '../../../src/core/record.ts'
import { type JobStatus, jobStatuses, workingJobStatuses } from '../../../src/model/job.ts'
import { threadStatuses } from '../../../src/model/words.ts'
import { defineMachine } from '../../kernel/machine.ts'
import type { ThreadRow } from '../threads/rows.ts'

/** Who can change a job; `system` stands for the daemon and its crons. */
export const jobRoles = ['buyer', 'provider', 'admin', 'system'] as const
export type JobRole = (typeof jobRoles)[number]

const parties = ['buyer', 'provider'] as const
const rulers = ['admin', 'system'] as const
const begun = ['dispatched', 'in_progress'] as const
/** States in which the money is still held. */
const unpaid = [...workingJobStatuses, 'completed', 'verified', 'disputed'] as const

/**
 * Job state machine (decisions §8). Effects happen in the same transaction. `refund` returns the whole hold, `release`
 * pays the provider and the fees, `split` divides the hold. `leave` means that the contract already paid the buyer.
 * `call_provider` and `tell_buyer` queue a message. Without a money effect the hold stays.
 */
export const jobMachine = defineMachine({
  noun: 'job',
  states: jobStatuses,
  transitions: [
    { event: 'dispatch', from: ['created'], to: 'dispatched', by: ['system'], effects: ['call_provider'] },
    { event: 'start', act: 'update', from: ['dispatched'], to: 'in_progress', by: ['provider'], effects: [] },
    { event: 'start', act: 'update', from: ['in_progress'], to: 'in_progress', by: ['provider'], effects: [] },
    { event: 'deliver', act: 'update', from: begun, to: 'completed', by: ['provider'], effects: ['tell_buyer'] },
    { event: 'fail', act: 'update', from: begun, to: 'failed', by: ['provider'], effects: ['refund', 'tell_buyer'] },
    { event: 'cancel', act: 'decline', from: ['dispatched'], to: 'cancelled', by: parties, effects: ['refund'] },
    { event: 'cancel', act: 'decline', from: ['in_progress'], to: 'cancelled', by: ['provider'], effects: ['refund'] },
    { event: 'expire', from: workingJobStatuses, to: 'expired', by: ['system'], effects: ['refund', 'tell_buyer'] },
    { event: 'verify', from: ['completed'], to: 'verified', by: ['buyer', 'system'], effects: [] },
    { event: 'release', act: null, from: ['verified'], to: 'released', by: ['buyer', 'system'], effects: ['release'] },
    { event: 'dispute', from: ['completed'], to: 'disputed', by: ['buyer'], effects: [] },
    /** A job's possible actions omit this event, because the provider can still deliver before the deadline. */
    { event: 'dispute_undelivered', act: null, from: begun, to: 'disputed', by: ['buyer'], effects: [] },
    { event: 'rule_release', act: 'resolve', from: ['disputed'], to: 'verified', by: rulers, effects: [] },
    { event: 'rule_refund', act: 'resolve', from: ['disputed'], to: 'refunded', by: rulers, effects: ['refund'] },
    { event: 'rule_split', act: 'resolve', from: ['disputed'], to: 'released', by: rulers, effects: ['split'] },
    { event: 'emergency_withdraw', from: unpaid, to: 'refunded', by: ['admin'], effects: ['refund'] },
    /** The buyer claimed the money from the escrow contract, after the deadline or in an emergency. */
    {
      event: 'claim_timeout',
      from: workingJobStatuses,
      to: 'expired',
      by: ['system'],
      effects: ['leave', 'tell_buyer'],
    },
    { event: 'withdraw', act: null, from: unpaid, to: 'refunded', by: rulers, effects: ['leave'] },
  ],
})

export type JobTransition = (typeof jobMachine)['transitions'][number]
export type JobEvent = JobTransition['event']

/** Status that a conversation shows for its job's status (decisions §9). */
export const threadStatusOf: Readonly<Record<JobStatus, ThreadRow['status']>> = {
  created: 'accepted',
  dispatched: 'accepted',
  in_progress: 'in_progress',
  completed: 'completed',
  verified: 'verified',
  released: 'verified',
  disputed: 'disputed',
  failed: 'cancelled',
  cancelled: 'cancelled',
  expired: 'cancelled',
  refunded: 'cancelled',
}

export function isEnd(status: JobStatus): boolean {
  return !jobMachine.transitions.some((arrow) => arrow.from.some((from) => from === status))
}

/**
 * Conversation state machine (decisions §9). After acceptance, a conversation follows its job through
 * `threadStatusOf`. Effects: `offer` writes the proposal, `open_job` takes the payment into escrow, `withdraw` ends
 * the proposal.
 */
export const threadMachine = defineMachine({
  noun: 'thread',
  states: threadStatuses,
  transitions: [
    { event: 'propose', from: ['inquiry', 'negotiating'], to: 'negotiating', by: ['provider'], effects: ['offer'] },
    { event: 'accept', from: ['negotiating'], to: 'accepted', by: ['buyer'], effects: ['open_job'] },
    { event: 'decline', from: ['inquiry', 'negotiating'], to: 'cancelled', by: parties, effects: ['withdraw'] },
    ...jobMachine.transitions.map(({ event, act, from, to, by }) => ({
      event,
      ...compact({ act }),
      from: [...new Set(from.map((status) => threadStatusOf[status]))],
      to: threadStatusOf[to],
      by,
      effects: [],
    })),
  ],
})

export type ThreadTransition = (typeof threadMachine)['transitions'][number]
export type ThreadEvent = ThreadTransition['event']
/** Events of a conversation before its job exists. */
export type NegotiationEvent = Extract<ThreadEvent, 'propose' | 'accept' | 'decline'>
