import { payoutStates } from '../../../src/model/words.ts'
import { defineMachine } from '../../kernel/machine.ts'
import type { PayoutRow } from './rows.ts'

/**
 * Payout state machine (decisions §4). Effects in the same transaction: `leave` removes the money from the books,
 * `give_back` returns it to its account, `block` keeps it for a blocked wallet, `unblock` returns the kept money.
 * Without an effect the money stays.
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

/** The payout's state. A failed payout whose money is blocked has the state `blocked`. */
export function payoutState({ status, blocked }: Pick<PayoutRow, 'status' | 'blocked'>): PayoutState {
  return blocked ? 'blocked' : status
}

export function isOpenPayout(state: PayoutState): boolean {
  return state !== 'confirmed' && state !== 'failed' && state !== 'blocked'
}
