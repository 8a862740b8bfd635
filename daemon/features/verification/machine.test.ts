import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { attemptStatuses } from '../../../src/model/verification.ts'
import { allowedEvents, diagram, findTransition, transition } from '../../kernel/machine.ts'
import { attemptStatusAt, verificationMachine, verificationRoles } from './machine.ts'

/** What decisions §6 allow, written out: from, event, who, to, and what else happens. */
const allowed = [
  ['pending_consent', 'consent', 'operator', 'vendor_pending', 'use_token'],
  ['vendor_pending', 'approve', 'vendor', 'approved', 'set_tier'],
  ['vendor_pending', 'reject', 'vendor', 'rejected'],
  ['pending_consent', 'expire', 'system', 'expired'],
  ['vendor_pending', 'expire', 'system', 'expired'],
] as const

const { states, transitions } = verificationMachine
const events = [...new Set(transitions.map(({ event }) => event))]
const attempts = states.flatMap((from) =>
  events.flatMap((event) => verificationRoles.map((by) => ({ from, event, by }))),
)

test.each(attempts)('$from: $event by $by is as written, or a 409 that says what can be done', (attempt) => {
  const row = allowed.find(([from, event, by]) => from === attempt.from && event === attempt.event && by === attempt.by)
  const found = findTransition(verificationMachine, attempt)
  expect(found && [found.to, ...found.effects]).toEqual(row?.slice(3))
  if (row) return
  const refusal = (() => {
    try {
      return transition(verificationMachine, attempt)
    } catch (error) {
      return error
    }
  })() as AppError
  expect(refusal).toBeInstanceOf(AppError)
  expect([refusal.code, refusal.extra]).toMatchObject([
    'invalid_transition',
    { from: attempt.from, allowed: allowedEvents(verificationMachine, attempt) },
  ])
})

test('the diagram has an arrow for each', () => {
  expect(diagram(verificationMachine).split('\n')).toHaveLength(1 + allowed.length)
})

test.each(attemptStatuses)('%s: time ends only what has not ended, and the token only what waits for it', (status) => {
  const live = status === 'pending_consent' || status === 'vendor_pending'
  const attempt = { status, live, expires_at: 100, token_expires_at: 100 }
  const at = (now: number, wall: number) => attemptStatusAt(attempt, { now, wall })
  expect([at(99, 99), at(100, 0), at(0, 100)]).toEqual([
    status,
    live ? 'expired' : status,
    status === 'pending_consent' ? 'expired' : status,
  ])
})
