import { planStatuses } from '../../../src/model/service.ts'
import { type SubscriptionStatus, subscriptionStatuses } from '../../../src/model/words.ts'
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

/** Who acts on a subscription; `system` is the cron. */
export const subscriptionRoles = ['subscriber', 'system'] as const
export type SubscriptionRole = (typeof subscriptionRoles)[number]

/**
 * Subscriptions (decisions §9). Effects name what happens in the same transaction: `charge` takes the next
 * period from the balance, `tell` sends word to the provider and into both parties' events. Where nothing is
 * charged no money moves: what was paid is not given back.
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
    /** Takes a cancellation back that waits for the end of the period. */
    { event: 'keep', from: ['active'], to: 'active', by: ['subscriber'], effects: [] },
    { event: 'cancel_at_period_end', from: ['active'], to: 'active', by: ['subscriber'], effects: [] },
    { event: 'cancel_at_period_end', from: ['paused'], to: 'paused', by: ['subscriber'], effects: [] },
    {
      event: 'cancel',
      from: ['active', 'paused', 'past_due'],
      to: 'canceled',
      by: ['subscriber'],
      effects: ['tell'],
    },
    /** Its provider is suspended when it falls due: nothing is charged until the subscriber resumes it. */
    { event: 'hold', from: ['active', 'past_due'], to: 'paused', by: ['system'], effects: ['tell'] },
    /** The paid period of a paused one ran out: nothing more happens to it by itself. */
    { event: 'lapse', from: ['paused'], to: 'paused', by: ['system'], effects: [] },
    /** A cancellation that waited, or the end of the plan, has come. */
    { event: 'end', from: ['active', 'paused', 'past_due'], to: 'canceled', by: ['system'], effects: ['tell'] },
  ],
})

export type SubscriptionTransition = (typeof subscriptionMachine)['transitions'][number]
export type SubscriptionEvent = SubscriptionTransition['event']

/** Whether nothing leads out of a state any more. */
export function isOver(status: SubscriptionStatus): boolean {
  return !subscriptionMachine.transitions.some((arrow) => arrow.from.some((from) => from === status))
}
