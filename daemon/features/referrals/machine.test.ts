import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { allowedEvents, findTransition, transition } from '../../kernel/machine.ts'
import { referralMachine, referralRoles, referralState } from './machine.ts'

/** What decisions §5 and §11 allow, written out: from, event, who, to, and the posting. */
const allowed = [
  ['pending', 'fall_due', 'system', 'payable', 'referral_due'],
  ['payable', 'withdraw', 'participant', 'withdrawn', 'referral_withdrawal'],
  ['payable', 'pay_out', 'participant', 'withdrawn', 'payout'],
  ['withdrawn', 'give_back', 'system', 'payable', 'payout_failed'],
  ['payable', 'block', 'system', 'blocked', 'blocked'],
  ['blocked', 'unblock', 'system', 'payable', 'unblocked'],
] as const

const { states, transitions } = referralMachine
const events = [...new Set(transitions.map(({ event }) => event))]
const attempts = states.flatMap((from) => events.flatMap((event) => referralRoles.map((by) => ({ from, event, by }))))

test.each(attempts)('$from: $event by $by is as written, or a 409 that says what can be done', (attempt) => {
  const row = allowed.find(([from, event, by]) => from === attempt.from && event === attempt.event && by === attempt.by)
  const found = findTransition(referralMachine, attempt)
  expect(found && [found.to, ...found.effects]).toEqual(row && [row[3], row[4]])
  if (row) return
  const refusal = (() => {
    try {
      return transition(referralMachine, attempt, { missing: '1.00' })
    } catch (error) {
      return error
    }
  })() as AppError
  expect(refusal).toBeInstanceOf(AppError)
  const allowedNow = allowedEvents(referralMachine, attempt)
  expect([refusal.code, refusal.extra]).toMatchObject([
    'invalid_transition',
    { from: attempt.from, allowed: allowedNow, missing: '1.00' },
  ])
})

test('money that can be withdrawn counts before what cannot', () => {
  const nothing = { payable: 0n, blocked: 0n, pending: 0n, lifetime: 0n }
  const at = (money: Partial<typeof nothing>) => referralState({ ...nothing, ...money })
  const pending = { pending: 1n, lifetime: 9n }
  const kept = { ...pending, blocked: 1n }
  expect([at({ ...kept, payable: 1n }), at(kept), at(pending), at({ lifetime: 9n }), at({})]).toEqual([
    'payable',
    'blocked',
    'pending',
    'withdrawn',
    'none',
  ])
})
