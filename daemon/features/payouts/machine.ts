import { payoutStates } from '../../../src/model/words.ts'
import { defineMachine } from '../../kernel/machine.ts'
import type { PayoutRow } from './rows.ts'

/**
 * Payouts (decisions §4). Effects name what happens to the money in the same transaction: `leave` takes it out of
 * the books, `give_back` puts it where it waited, `block` keeps it for a wallet that cannot be paid, and `unblock`
 * puts that back. Where no effect names the money, it stays.
 */
export const payoutMachine = defineMachine({
  noun: 'payout',
  states: [...payoutStates, 'blocked'],
  transitions: [
    { event: 'sign', from: ['created', 'needs_operator'], to: 'signed', by: ['system'], effects: [] },
    { event: 'lack_key', from: ['created', 'needs_operator'], to: 'needs_operator', by: ['system'], effects: [] },
    { event: 'send', from: ['signed', 'sent'], to: 'sent', by: ['system'], effects: [] },
    { event: 'postpone', from: ['sent'], to: 'sent', by: ['system'], effects: [] },
    { event: 'confirm', from: ['sent'], to: 'confirmed', by: ['system'], effects: ['leave'] },
    {
      event: 'fail',
      from: ['created', 'needs_operator', 'signed', 'sent'],
      to: 'failed',
      by: ['system'],
      effects: ['give_back'],
    },
    {
      event: 'block',
      from: ['created', 'needs_operator', 'signed', 'sent'],
      to: 'blocked',
      by: ['system'],
      effects: ['give_back', 'block'],
    },
    { event: 'review', from: ['blocked'], to: 'blocked', by: ['system'], effects: [] },
    { event: 'unblock', from: ['blocked'], to: 'failed', by: ['system'], effects: ['unblock'] },
  ],
})

export type PayoutTransition = (typeof payoutMachine)['transitions'][number]
export type PayoutEvent = PayoutTransition['event']
export type PayoutState = (typeof payoutMachine)['states'][number]

/** A failed payout whose money is kept is in a state of its own. */
export function payoutState({ status, blocked }: Pick<PayoutRow, 'status' | 'blocked'>): PayoutState {
  return blocked ? 'blocked' : status
}

/** Whether money of it is on its way: what makes a wallet wait with its next payout. */
export function isOpenPayout(state: PayoutState): boolean {
  return state !== 'confirmed' && state !== 'failed' && state !== 'blocked'
}
