import { expect, test } from 'vitest'
import { describeMachine } from '../../kernel/machine.testkit.ts'
import { referralMachine, referralState } from './machine.ts'

/** What decisions §5 and §11 allow, written out: from, event, who, to, and the posting. */
const allowed = [
  ['pending', 'fall_due', 'system', 'payable', 'referral_due'],
  ['payable', 'withdraw', 'participant', 'withdrawn', 'referral_withdrawal'],
  ['payable', 'pay_out', 'participant', 'withdrawn', 'payout'],
  ['withdrawn', 'give_back', 'system', 'payable', 'payout_failed'],
  ['payable', 'block', 'system', 'blocked', 'blocked'],
  ['blocked', 'unblock', 'system', 'payable', 'unblocked'],
] as const

describeMachine({
  machine: referralMachine,
  roles: ['participant', 'system'],
  written: allowed,
  withEffects: true,
  starts: ['none', 'pending'],
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
