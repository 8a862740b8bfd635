import { defineMachine } from '../../kernel/machine.ts'

export const referralRoles = ['participant', 'system'] as const

/**
 * Referral money on its way to a balance or wallet (decisions §5, §11). Effects name its posting: `refp → ref`,
 * `ref → bal`, `ref → out`, `ref → blk` and back.
 */
export const referralMachine = defineMachine({
  noun: 'referral money',
  states: ['none', 'pending', 'payable', 'withdrawn', 'blocked'],
  transitions: [
    { event: 'fall_due', from: ['pending'], to: 'payable', by: ['system'], effects: ['referral_due'] },
    { event: 'withdraw', from: ['payable'], to: 'withdrawn', by: ['participant'], effects: ['referral_withdrawal'] },
    { event: 'pay_out', from: ['payable'], to: 'withdrawn', by: ['participant'], effects: ['payout'] },
    { event: 'give_back', from: ['withdrawn'], to: 'payable', by: ['system'], effects: ['payout_failed'] },
    { event: 'block', from: ['payable'], to: 'blocked', by: ['system'], effects: ['blocked'] },
    { event: 'unblock', from: ['blocked'], to: 'payable', by: ['system'], effects: ['unblocked'] },
  ],
})

export type ReferralState = (typeof referralMachine)['states'][number]

type Standing = { readonly [K in 'payable' | 'blocked' | 'pending' | 'lifetime']: bigint }

/** Where a participant's referral money stands as far as a withdrawal goes: the nearest to it first. */
export function referralState(money: Standing): ReferralState {
  if (money.payable > 0n) return 'payable'
  if (money.blocked > 0n) return 'blocked'
  if (money.pending > 0n) return 'pending'
  return money.lifetime > 0n ? 'withdrawn' : 'none'
}
