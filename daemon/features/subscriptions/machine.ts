import { planStatuses } from '../../../src/model/service.ts'
import { type SubscriptionStatus, subscriptionStatuses } from '../../../src/model/words.ts'
import { defineMachine } from '../../kernel/machine.ts'

/**
 * Plan state machine (decisions §9). A deleted plan takes no new subscribers; existing subscriptions keep their paid
 * period and are not renewed. A suspended plan takes no new subscribers until it is reinstated.
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

/** Roles that can change a subscription; `system` is the cron. */
export type SubscriptionRole = 'subscriber' | 'system'

/**
 * Subscription state machine (decisions §9). Effects happen in the same transaction: `charge` takes the next period's
 * price from the balance, `tell` notifies the provider and writes to both event logs. Only `charge` moves money.
 */
export const subscriptionMachine = defineMachine({
  noun: 'subscription',
  states: subscriptionStatuses,
  transitions: [
    { event: 'renew', from: ['active', 'past_due'], to: 'active', by: ['system'], effects: ['charge', 'tell'] },
    { event: 'fail', from: ['active'], to: 'past_due', by: ['system'], effects: ['tell'] },
    { event: 'fail', from: ['past_due'], to: 'past_due', by: ['system'], effects: [] },
    { event: 'expire', from: ['past_due'], to: 'expired', by: ['system'], effects: ['tell'] },
    { event: 'pause', from: ['active'], to: 'paused', by: ['subscriber'], effects: ['tell'] },
    { event: 'resume', from: ['paused'], to: 'active', by: ['subscriber'], effects: ['tell'] },
    /** Undoes a scheduled cancellation. */
    { event: 'keep', from: ['active'], to: 'active', by: ['subscriber'], effects: [] },
    { event: 'cancel_at_period_end', from: ['active'], to: 'active', by: ['subscriber'], effects: [] },
    { event: 'cancel_at_period_end', from: ['paused'], to: 'paused', by: ['subscriber'], effects: [] },
    { event: 'cancel', from: ['active', 'paused', 'past_due'], to: 'canceled', by: ['subscriber'], effects: ['tell'] },
    /** If the provider is suspended when a renewal is due, the subscription pauses until the subscriber resumes it. */
    { event: 'hold', from: ['active', 'past_due'], to: 'paused', by: ['system'], effects: ['tell'] },
    /** The paid period of a paused subscription has ended; nothing more happens automatically. */
    { event: 'lapse', from: ['paused'], to: 'paused', by: ['system'], effects: [] },
    /** The subscription ends, because a cancellation was scheduled or its plan was deleted. */
    { event: 'end', from: ['active', 'paused', 'past_due'], to: 'canceled', by: ['system'], effects: ['tell'] },
  ],
})

export type SubscriptionTransition = (typeof subscriptionMachine)['transitions'][number]
export type SubscriptionEvent = SubscriptionTransition['event']

export function isOver(status: SubscriptionStatus): boolean {
  return !subscriptionMachine.transitions.some((arrow) => arrow.from.some((from) => from === status))
}
