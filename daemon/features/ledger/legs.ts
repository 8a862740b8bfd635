import type { Wallet } from '../../../src/core/hex.ts'
import { netOfSplit, type Usdc, usdc } from '../../../src/core/money.ts'
import { PRICE_STEP } from '../../../src/core/price.ts'
import type { Leg } from '../../../src/model/ledger.ts'

/**
 * Accounts of the books (decisions §5). Only `ext`, the chain, and `cold` may be negative: what lies at the cold address
 * is the negative of `cold`.
 */
export const account = {
  ext: 'ext',
  fees: 'fees',
  ops: 'ops',
  oper: 'oper',
  cold: 'cold',
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

/** Referrers who get a share of a listing fee; null if there is none. `buyerId` is the referred buyer. */
export type Referrers = {
  readonly buyer: string | null
  readonly provider: string | null
  readonly buyerId?: string | null
}

export type Sale = {
  /** Account that pays: `ext`, the payment's hold, or the balance for a renewal. */
  readonly source: string
  readonly providerId: string
  readonly split: Split
  readonly referrers: Referrers
}

/** Target of a refund: the balance or wallet from which the money came (decisions §4, Refunds). */
export type Buyer = { readonly participantId: string } | { readonly wallet: Wallet }

/** Target of a refund. With `reversed`, the marketplace gets the refund, because the chain reverted the payment. */
export type Refunded = Buyer | { readonly reversed: true }

export type Escrowed = Omit<Sale, 'source'> & { readonly jobId: string }

const move = (from: string, to: string, amount: Usdc): Leg[] => [{ from, to, amount }]

/** Legs of each event (decisions §5). Amounts are micro-USDC. */
export const legsOf = {
  balanceHold: (hold: { participantId: string; paymentId: string; amount: Usdc }) =>
    move(account.balance(hold.participantId), account.hold(hold.paymentId), hold.amount),
  /** Returns the money of a hold to the balance, because the payment ends without a charge. */
  balanceRelease: (hold: { participantId: string; paymentId: string; amount: Usdc }) =>
    move(account.hold(hold.paymentId), account.balance(hold.participantId), hold.amount),
  deposit: (deposit: { participantId: string; amount: Usdc }) =>
    move(account.ext, account.balance(deposit.participantId), deposit.amount),
  fixedPriceCall: (call: { source: string; price: Usdc }) => move(call.source, account.ops, call.price),
  /** For an asynchronous purchase, an accepted proposal, or an award. */
  escrowHold: (hold: { source: string; jobId: string; amount: Usdc }) =>
    move(hold.source, account.escrow(hold.jobId), hold.amount),
  /** Sale without escrow: instant service, product, subscription or renewal. */
  instantSale: (sale: Sale) => saleLegs(sale.source, sale),
  escrowRelease: (escrowed: Escrowed) => saleLegs(account.escrow(escrowed.jobId), escrowed),
  escrowRefund: (refund: { jobId: string; buyer: Refunded; amount: Usdc }) =>
    move(account.escrow(refund.jobId), refundAccount(refund.buyer), refund.amount),
  /** The contract itself paid the buyer, so the money leaves the books. */
  escrowLeft: (left: { jobId: string; amount: Usdc }) => move(account.escrow(left.jobId), account.ext, left.amount),
  disputeSplit,
  /** A settled x402 payment whose effect was refused. The wallet is owed the whole amount. */
  settledRefused: (refusal: { payer: Wallet; amount: Usdc }) =>
    move(account.ext, account.refund(refusal.payer), refusal.amount),
  /** `from` is the account in which the money waited. If the payout fails, the money returns there. */
  payoutOpened: (payout: { id: string; from: string; amount: Usdc }) =>
    move(payout.from, account.payout(payout.id), payout.amount),
  payoutConfirmed: (payout: { id: string; amount: Usdc }) =>
    move(account.payout(payout.id), account.ext, payout.amount),
  payoutFailed: (payout: { id: string; from: string; amount: Usdc }) =>
    move(account.payout(payout.id), payout.from, payout.amount),
  blocked: (block: { from: string; wallet: Wallet; amount: Usdc }) =>
    move(block.from, account.blocked(block.wallet), block.amount),
  unblocked: (block: { to: string; wallet: Wallet; amount: Usdc }) =>
    move(account.blocked(block.wallet), block.to, block.amount),
  referralDue: (due: { participantId: string; amount: Usdc }) =>
    move(account.referralPending(due.participantId), account.referral(due.participantId), due.amount),
  referralWithdrawal: (due: { participantId: string; amount: Usdc }) =>
    move(account.referral(due.participantId), account.balance(due.participantId), due.amount),
  /** First-party earnings belong to the operator and are never paid out on a chain. */
  firstPartySettlement: (due: { providerId: string; amount: Usdc }) =>
    move(account.provider(due.providerId), account.oper, due.amount),
  /** A share of the revenue, rounded down. The remainder stays in `from`. */
  splitter: (due: { from: 'fees' | 'ops'; to: string; amount: Usdc }) => move(due.from, due.to, due.amount),
  /** A payment that the chain reverted permanently. */
  reversal: (loss: { from: string; amount: Usdc }) => move(loss.from, account.ext, loss.amount),
  /** A payment found after a restore, for something that was delivered. */
  claimed: (claim: { from: string; amount: Usdc }) => move(claim.from, account.oper, claim.amount),
  /** Returns the money of a reverted payment that the chain settled again. */
  returned: (back: { to: string; amount: Usdc }) => move(account.ext, back.to, back.amount),
  /** Pays a refund that was withheld because its money was missing. */
  withheldRefund: (due: { from: string; payer: Wallet; amount: Usdc }) =>
    move(due.from, account.refund(due.payer), due.amount),
  /** A positive amount goes to the balance, a negative amount leaves the balance. */
  adjustment: ({ participantId, amount }: { participantId: string; amount: Usdc }) =>
    amount < 0n
      ? move(account.balance(participantId), account.oper, usdc(-amount))
      : move(account.oper, account.balance(participantId), amount),
} as const

export function refundAccount(buyer: Refunded): string {
  if ('reversed' in buyer) return account.oper
  return 'wallet' in buyer ? account.refund(buyer.wallet) : account.balance(buyer.participantId)
}

function saleLegs(source: string, { providerId, split, referrers }: Omit<Sale, 'source'>): Leg[] {
  return [
    { from: source, to: account.provider(providerId), amount: split.net },
    { from: source, to: account.fees, amount: split.fee },
    ...referralLegs(split.fee, providerId, referrers),
  ]
}

/**
 * A dispute ruling: the buyer gets `toBuyer`, the provider its net share of the remainder (floored), the fees account
 * everything else.
 * @throws RangeError when `toBuyer` is negative or more than was held.
 */
function disputeSplit(ruling: Escrowed & { readonly buyer: Refunded; readonly toBuyer: Usdc }): Leg[] {
  const { jobId, split, referrers, toBuyer } = ruling
  if (toBuyer < 0n || toBuyer > split.agent) throw new RangeError(`a split of ${toBuyer} out of ${split.agent}`)
  const net = netOfSplit({ amount: split.agent, net: split.net, toBuyer })
  const fee = usdc(split.agent - toBuyer - net)
  const escrow = account.escrow(jobId)
  return [
    { from: escrow, to: refundAccount(ruling.buyer), amount: toBuyer },
    { from: escrow, to: account.provider(ruling.providerId), amount: net },
    { from: escrow, to: account.fees, amount: fee },
    ...referralLegs(fee, ruling.providerId, referrers),
  ]
}

function referralLegs(fee: Usdc, providerId: string, referrers: Referrers): Leg[] {
  const shares = [
    { role: 'agent', by: referrers.buyer, referredId: referrers.buyerId ?? null, bps: REFERRAL_AGENT_BPS },
    { role: 'provider', by: referrers.provider, referredId: providerId, bps: REFERRAL_PROVIDER_BPS },
  ] as const
  return shares.flatMap(({ role, by, referredId, bps }) => {
    if (by === null) return []
    const leg = { from: account.fees, to: account.referralPending(by), amount: share(fee, bps) }
    return [{ ...leg, share: { role, referredId } }]
  })
}

/** Net amount that legs take from an account. */
export function takenFrom(legs: readonly Leg[], name: string): Usdc {
  const taken = legs.reduce((sum, leg) => {
    const out = leg.from === name ? leg.amount : 0n
    const back = leg.to === name ? leg.amount : 0n
    return sum + out - back
  }, 0n)
  return usdc(taken)
}

/** A sale by a third party, or by the marketplace itself (decisions §5). */
export type SaleKind = 'first_party' | 'third_party'

/** Buyer's price, provider's net, marketplace's fee: `agent = net + fee`. */
export type Split = { readonly agent: Usdc; readonly net: Usdc; readonly fee: Usdc }

/** Shown as `platform_fee_pct` on every listing. */
export const PLATFORM_FEE_PCT = 5
/** Shown as `provider_receives_pct` on first-party listings. */
export const PROVIDER_RECEIVES_PCT = 95

/** Referral shares of a listing fee, for the referrers of buyer and provider (decisions §11). */
export const REFERRAL_AGENT_BPS = 2_000n
export const REFERRAL_PROVIDER_BPS = 2_500n

const WHOLE_BPS = 10_000n
const WHOLE_PCT = 100n
const HALF_PCT = WHOLE_PCT / 2n
const MARKED_UP_PCT = WHOLE_PCT + BigInt(PLATFORM_FEE_PCT)
const NET_PCT = BigInt(PROVIDER_RECEIVES_PCT)

/**
 * Divides a sale. Third party: the buyer pays price × 1.05, rounded half-up to $0.001; the provider nets the price.
 * First party: the buyer pays the price; the provider nets exactly 95 %.
 * @throws RangeError on a price that is negative or no multiple of $0.001.
 */
export function split(kind: SaleKind, price: Usdc): Split {
  if (price < 0n || price % PRICE_STEP !== 0n) throw new RangeError(`${price} micro-USDC is not a valid price`)
  const agent = kind === 'first_party' ? price : markUp(price)
  const net = kind === 'first_party' ? usdc((price * NET_PCT) / WHOLE_PCT) : price
  return { agent, net, fee: usdc(agent - net) }
}

function markUp(price: Usdc): Usdc {
  const steps = price / PRICE_STEP
  return usdc(((steps * MARKED_UP_PCT + HALF_PCT) / WHOLE_PCT) * PRICE_STEP)
}

/**
 * A share in basis points, floored to atomic units.
 * @throws RangeError on a negative amount or a share above the whole.
 */
export function share(amount: Usdc, bps: bigint): Usdc {
  if (amount < 0n || bps < 0n || bps > WHOLE_BPS) throw new RangeError(`invalid share of ${amount} at ${bps} bps`)
  return usdc((amount * bps) / WHOLE_BPS)
}
