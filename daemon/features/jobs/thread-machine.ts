import { threadStatuses } from '../../../src/model/thread.ts'
import { defineMachine } from '../../kernel/machine.ts'
import { jobMachine, threadStatusOf } from './machine.ts'

/**
 * Conversations (decisions §9). A negotiation moves by itself; from the accepted price on the
 * conversation follows its job, so those rows are the job's own, seen through `threadStatusOf`.
 * Effects: `offer` writes the proposal, `open_job` takes the payment into escrow, `withdraw` ends the proposal.
 */
export const threadMachine = defineMachine({
  noun: 'thread',
  states: threadStatuses,
  transitions: [
    {
      event: 'propose',
      from: ['inquiry', 'negotiating'],
      to: 'negotiating',
      by: ['provider'],
      effects: ['offer'],
    },
    { event: 'accept', from: ['negotiating'], to: 'accepted', by: ['buyer'], effects: ['open_job'] },
    {
      event: 'decline',
      from: ['inquiry', 'negotiating'],
      to: 'cancelled',
      by: ['buyer', 'provider'],
      effects: ['withdraw'],
    },
    ...jobMachine.transitions.map(({ event, from, to, by }) => ({
      event,
      from: [...new Set(from.map((status) => threadStatusOf[status]))],
      to: threadStatusOf[to],
      by,
      effects: [],
    })),
  ],
})

export type ThreadTransition = (typeof threadMachine)['transitions'][number]
export type ThreadEvent = ThreadTransition['event']
/** What moves a conversation before there is a job. */
export type NegotiationEvent = Extract<ThreadEvent, 'propose' | 'accept' | 'decline'>
