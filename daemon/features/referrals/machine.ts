import { defineMachine } from '../../kernel/machine.ts'

/** Referral money state machine (decisions §5, §11). Each effect is the kind of ledger entry that it posts. */
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

/** State of a participant's referral money. If its parts have several states, returns the one closest to `payable`. */
export function referralState(money: Standing): ReferralState {
  if (money.payable > 0n) return 'payable'
  if (money.blocked > 0n) return 'blocked'
  if (money.pending > 0n) return 'pending'
  return money.lifetime > 0n ? 'withdrawn' : 'none'
}
