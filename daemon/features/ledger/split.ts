import { type Usdc, usdc } from '../../../src/core/money.ts'
import { PRICE_STEP } from '../../../src/core/price.ts'

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
