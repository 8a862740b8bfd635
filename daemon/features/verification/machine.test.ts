import { expect, test } from 'vitest'
import { attemptStatuses } from '../../../src/model/words.ts'
import { describeMachine } from '../../kernel/machine.testkit.ts'
import { attemptStatusAt, verificationMachine } from './machine.ts'

/** What decisions §6 allow, written out: from, event, who, to, and what else happens. */
const allowed = [
  ['pending_consent', 'consent', 'operator', 'vendor_pending', 'use_token'],
  ['vendor_pending', 'approve', 'vendor', 'approved', 'set_tier'],
  ['vendor_pending', 'reject', 'vendor', 'rejected'],
  ['pending_consent', 'expire', 'system', 'expired'],
  ['vendor_pending', 'expire', 'system', 'expired'],
] as const

describeMachine({
  machine: verificationMachine,
  roles: ['operator', 'vendor', 'system'],
  written: allowed,
  withEffects: true,
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
