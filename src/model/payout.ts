import type { Wallet } from '../core/hex.ts'
/** Life of a payout (decisions §4): money that leaves through the chain; `needs_operator`: nothing here can sign it. */
export const payoutStates = ['created', 'needs_operator', 'signed', 'sent', 'confirmed', 'failed'] as const

/**
 * Why it is paid: a refund goes on while paid activity is paused, all others wait. A `withdrawal` takes from the
 * payee's own balance; `referral` money is paid out where its owner asked for that, else such a row only says that it
 * is kept from a sanctioned wallet.
 */
export const payoutKinds = ['refund', 'settlement', 'splitter', 'referral', 'withdrawal'] as const
export type PayoutKind = (typeof payoutKinds)[number]

/** Who gets a part of what the marketplace earned, in basis points: a wallet, or the operator in the books. */
export type Payee = { readonly to: Wallet | 'operator'; readonly bps: bigint }
