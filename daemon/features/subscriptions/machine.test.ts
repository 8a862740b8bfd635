import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { planStatuses } from '../../../src/model/plan.ts'
import { subscriptionStatuses } from '../../../src/model/subscription.ts'
import { allowedEvents, diagram, findTransition, transition } from '../../kernel/machine.ts'
import { isOver, subscriptionMachine, subscriptionRoles } from './machine.ts'
import { planMachine, planRoles } from './plan-machine.ts'

/** What decisions §9 allow, written out: from, event, who, to, effects. */
const allowed = [
  ['active', 'renew', 'system', 'active', 'charge tell'],
  ['active', 'fail', 'system', 'past_due', 'tell'],
  ['active', 'hold', 'system', 'paused', 'tell'],
  ['active', 'end', 'system', 'canceled', 'tell'],
  ['active', 'pause', 'subscriber', 'paused', 'tell'],
  ['active', 'keep', 'subscriber', 'active', ''],
  ['active', 'cancel_at_period_end', 'subscriber', 'active', ''],
  ['active', 'cancel', 'subscriber', 'canceled', 'tell'],
  ['paused', 'lapse', 'system', 'paused', ''],
  ['paused', 'end', 'system', 'canceled', 'tell'],
  ['paused', 'resume', 'subscriber', 'active', 'tell'],
  ['paused', 'cancel_at_period_end', 'subscriber', 'paused', ''],
  ['paused', 'cancel', 'subscriber', 'canceled', 'tell'],
  ['past_due', 'renew', 'system', 'active', 'charge tell'],
  ['past_due', 'fail', 'system', 'past_due', ''],
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

const events = [...new Set(subscriptionMachine.transitions.map(({ event }) => event))]
const attempts = subscriptionStatuses.flatMap((from) =>
  events.flatMap((event) => subscriptionRoles.map((by) => ({ from, event, by }))),
)

describe('subscriptions', () => {
  test.each(attempts)('$event of one that is $from, by $by', (attempt) => {
    const { from, event, by } = attempt
    const row = allowed.find(([state, name, who]) => state === from && name === event && who === by)
    if (row) {
      const { to, effects } = transition(subscriptionMachine, attempt)
      expect([to, effects.join(' ')]).toEqual([row[3], row[4]])
      return
    }
    const refusal = refusalOf(() => transition(subscriptionMachine, attempt))
    expect([refusal.status, refusal.code, refusal.extra.from]).toEqual([409, 'invalid_transition', from])
    const instead = allowed.filter(([state, , who]) => state === from && who === by).map(([, name]) => name)
    expect([...(refusal.extra.allowed as string[])].sort()).toEqual(instead.sort())
  })

  test('are over when canceled or expired, and only then', () => {
    expect(subscriptionStatuses.filter(isOver)).toEqual(['canceled', 'expired'])
  })

  test('are charged by nothing but a renewal, and never by their subscriber', () => {
    const charging = subscriptionMachine.transitions.filter(({ effects }) =>
      effects.some((effect) => effect === 'charge'),
    )
    expect(charging.map(({ event, by }) => [event, by])).toEqual([['renew', ['system']]])
  })

  test('the diagram has one arrow for each state a row starts from', () => {
    expect(diagram(subscriptionMachine).split('\n')).toHaveLength(1 + allowed.length)
  })
})

describe('plans', () => {
  const planEvents = [...new Set(planMachine.transitions.map(({ event }) => event))]
  const deeds = planStatuses.flatMap((from) =>
    planEvents.flatMap((event) => planRoles.map((by) => ({ from, event, by }))),
  )

  test.each(deeds)('$event of one that is $from, by $by', (attempt) => {
    const { from, event, by } = attempt
    const row = ofPlans.find((one) => one[0] === from && one[1] === event && one[2] === by)
    if (row) {
      expect(findTransition(planMachine, attempt)?.to).toBe(row[3])
      return
    }
    const refusal = refusalOf(() => transition(planMachine, attempt))
    expect([refusal.status, refusal.extra.allowed]).toEqual([409, allowedEvents(planMachine, attempt)])
  })
})

function refusalOf(attempt: () => unknown): AppError {
  try {
    attempt()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('it was not refused')
}
