import type { Wallet } from '../../src/core/hex.ts'
import { type Usdc, usdc } from '../../src/core/money.ts'
import { REFERRAL_AGENT_BPS, REFERRAL_PROVIDER_BPS, type Split, share } from './pricing.ts'

/** Accounts of the books (decisions §5). Only `ext`, the chain, may be negative. */
export const account = {
  ext: 'ext',
  fees: 'fees',
  ops: 'ops',
  oper: 'oper',
  balance: (participantId: string) => `bal:${participantId}`,
  hold: (paymentId: string) => `hold:${paymentId}`,
  escrow: (jobId: string) => `esc:${jobId}`,
  provider: (participantId: string) => `prov:${participantId}`,
  referralPending: (participantId: string) => `refp:${participantId}`,
  referral: (participantId: string) => `ref:${participantId}`,
  refund: (wallet: Wallet) => `rfd:${wallet}`,
  payout: (payoutId: string) => `out:${payoutId}`,
  blocked: (wallet: Wallet) => `blk:${wallet}`,
} as const

export const mayBeNegative = (name: string): boolean => name === account.ext

/** Money that moves from one account to another; `A → B x` of the posting table. */
export type Leg = { readonly from: string; readonly to: string; readonly amount: Usdc }

/** Who shares in a listing fee. */
export type Referrers = { readonly buyer: string | null; readonly provider: string | null }

export type Sale = {
  /** `ext` or the payment's hold. */
  readonly source: string
  readonly providerId: string
  readonly split: Split
  readonly referrers: Referrers
}

/** The rows of the posting table that have been built; each returns the legs of one event. */
export const postings = {
  fixedPriceCall: (call: { source: string; price: Usdc }): Leg[] => [
    { from: call.source, to: account.ops, amount: call.price },
  ],
  instantSale: (sale: Sale): Leg[] => [
    { from: sale.source, to: account.provider(sale.providerId), amount: sale.split.net },
    { from: sale.source, to: account.fees, amount: sale.split.fee },
    ...referralLegs(sale.split.fee, sale.referrers),
  ],
  /** A settled x402 payment whose effect was refused: the wallet is owed all of it. */
  settledRefused: (refusal: { payer: Wallet; amount: Usdc }): Leg[] => [
    { from: account.ext, to: account.refund(refusal.payer), amount: refusal.amount },
  ],
} as const

function referralLegs(fee: Usdc, referrers: Referrers): Leg[] {
  const legs: Leg[] = []
  if (referrers.buyer) {
    legs.push({
      from: account.fees,
      to: account.referralPending(referrers.buyer),
      amount: share(fee, REFERRAL_AGENT_BPS),
    })
  }
  if (referrers.provider) {
    legs.push({
      from: account.fees,
      to: account.referralPending(referrers.provider),
      amount: share(fee, REFERRAL_PROVIDER_BPS),
    })
  }
  return legs
}

export type Line = { readonly account: string; readonly delta: Usdc }

/**
 * Nets legs into one line per account, in first-seen order; what cancels out is left out.
 * @throws RangeError on a negative leg: money never moves backwards under a forward name.
 */
export function linesOf(legs: readonly Leg[]): Line[] {
  const deltas = new Map<string, bigint>()
  for (const { from, to, amount } of legs) {
    if (amount < 0n) throw new RangeError(`negative leg ${from} → ${to}`)
    deltas.set(from, (deltas.get(from) ?? 0n) - amount)
    deltas.set(to, (deltas.get(to) ?? 0n) + amount)
  }
  return [...deltas].filter(([, delta]) => delta !== 0n).map(([name, delta]) => ({ account: name, delta: usdc(delta) }))
}

/** What legs take from an account, net. */
export function takenFrom(legs: readonly Leg[], name: string): Usdc {
  const taken = legs.reduce((sum, leg) => {
    const out = leg.from === name ? leg.amount : 0n
    const back = leg.to === name ? leg.amount : 0n
    return sum + out - back
  }, 0n)
  return usdc(taken)
}
