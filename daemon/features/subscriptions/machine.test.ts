import { describe, expect, test } from 'vitest'
import { subscriptionStatuses } from '../../../src/model/words.ts'
import { describeMachine } from '../../kernel/machine.testkit.ts'
import { isOver, planMachine, subscriptionMachine } from './machine.ts'

/** What decisions §9 allow, written out: from, event, who, to, effects. */
const allowed = [
  ['active', 'renew', 'system', 'active', 'charge', 'tell'],
  ['active', 'fail', 'system', 'past_due', 'tell'],
  ['active', 'hold', 'system', 'paused', 'tell'],
  ['active', 'end', 'system', 'canceled', 'tell'],
  ['active', 'pause', 'subscriber', 'paused', 'tell'],
  ['active', 'keep', 'subscriber', 'active'],
  ['active', 'cancel_at_period_end', 'subscriber', 'active'],
  ['active', 'cancel', 'subscriber', 'canceled', 'tell'],
  ['paused', 'lapse', 'system', 'paused'],
  ['paused', 'end', 'system', 'canceled', 'tell'],
  ['paused', 'resume', 'subscriber', 'active', 'tell'],
  ['paused', 'cancel_at_period_end', 'subscriber', 'paused'],
  ['paused', 'cancel', 'subscriber', 'canceled', 'tell'],
  ['past_due', 'renew', 'system', 'active', 'charge', 'tell'],
  ['past_due', 'fail', 'system', 'past_due'],
  ['past_due', 'expire', 'system', 'expired', 'tell'],
  ['past_due', 'hold', 'system', 'paused', 'tell'],
  ['past_due', 'end', 'system', 'canceled', 'tell'],
  ['past_due', 'cancel', 'subscriber', 'canceled', 'tell'],
] as const

const ofPlans = [
  ['active', 'subscribe', 'subscriber', 'active'],
  ['active', 'update', 'provider', 'active'],
  ['active', 'delete', 'provider', 'deleted'],
  ['active', 'suspend', 'admin', 'suspended'],
  ['suspended', 'reinstate', 'admin', 'active'],
] as const

describeMachine({ machine: subscriptionMachine, roles: ['subscriber', 'system'], written: allowed, withEffects: true })
describeMachine({ machine: planMachine, roles: ['provider', 'subscriber', 'admin'], written: ofPlans })

describe('subscriptions', () => {
  test('are over when canceled or expired, and only then', () => {
    expect(subscriptionStatuses.filter(isOver)).toEqual(['canceled', 'expired'])
  })

  test('are charged by nothing but a renewal, and never by their subscriber', () => {
    const charging = subscriptionMachine.transitions.filter(({ effects }) =>
      effects.some((effect) => effect === 'charge'),
    )
    expect(charging.map(({ event, by }) => [event, by])).toEqual([['renew', ['system']]])
  })
})
