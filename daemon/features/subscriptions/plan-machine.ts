import { planStatuses } from '../../../src/model/plan.ts'
import { defineMachine } from '../../kernel/machine.ts'

/** Who acts on a plan. */
export const planRoles = ['provider', 'subscriber', 'admin'] as const

/**
 * Plans (decisions §9). A deleted one takes no subscribers; those it has keep what they paid for until their
 * period ends, and are not charged again. One that is suspended with its provider takes no subscribers either; it comes
 * back with it.
 */
export const planMachine = defineMachine({
  noun: 'plan',
  states: planStatuses,
  transitions: [
    { event: 'subscribe', from: ['active'], to: 'active', by: ['subscriber'], effects: ['charge'] },
    { event: 'update', from: ['active'], to: 'active', by: ['provider'], effects: [] },
    { event: 'delete', from: ['active'], to: 'deleted', by: ['provider'], effects: [] },
    { event: 'suspend', from: ['active'], to: 'suspended', by: ['admin'], effects: [] },
    { event: 'reinstate', from: ['suspended'], to: 'active', by: ['admin'], effects: [] },
  ],
})
