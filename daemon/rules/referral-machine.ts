import { defineMachine } from './machine.ts'

export const referralRoles = ['participant', 'system'] as const

/**
 * Referral money on its way to a balance (decisions §5, §11). Effects name its posting: `refp → ref`, `ref → bal`,
 * `ref → blk` and back.
 */
export const referralMachine = defineMachine({
  noun: 'referral money',
  states: ['pending', 'payable', 'withdrawn', 'blocked'],
  transitions: [
    { event: 'fall_due', from: ['pending'], to: 'payable', by: ['system'], effects: ['referral_due'] },
    { event: 'withdraw', from: ['payable'], to: 'withdrawn', by: ['participant'], effects: ['referral_withdrawal'] },
    { event: 'block', from: ['payable'], to: 'blocked', by: ['system'], effects: ['blocked'] },
    { event: 'unblock', from: ['blocked'], to: 'payable', by: ['system'], effects: ['unblocked'] },
  ],
})

export type ReferralState = (typeof referralMachine)['states'][number]

/** Where a participant's referral money stands as far as a withdrawal goes: the nearest to it first. */
export function referralState(money: { payable: bigint; blocked: bigint; pending: bigint }): ReferralState {
  if (money.payable > 0n) return 'payable'
  if (money.blocked > 0n) return 'blocked'
  return money.pending > 0n ? 'pending' : 'withdrawn'
}
