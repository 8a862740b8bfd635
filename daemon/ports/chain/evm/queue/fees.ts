/** What a transaction offers, wei for each unit of gas. */
export type Fees = { readonly maxFee: bigint; readonly tip: bigint }

/** What the chain asks for at the moment. */
export type FeeMarket = { readonly baseFee: bigint; readonly tip: bigint }

/** Nodes take a replacement only when both fees rise by a tenth; an eighth is on the safe side. */
const RAISE = { numerator: 9n, denominator: 8n }

/** Room for the base fee to double before the transaction waits; undefined when even today's fee is above the cap. */
export function firstFees({ baseFee, tip }: FeeMarket, cap: bigint): Fees | undefined {
  const least = baseFee + tip
  if (least > cap) return undefined
  return { maxFee: smaller(2n * baseFee + tip, cap), tip }
}

/** Fees that replace those: an eighth more, or today's where that is higher. Undefined where the cap is in the way. */
export function raisedFees(last: Fees, market: FeeMarket, cap: bigint): Fees | undefined {
  const maxFee = larger(raise(last.maxFee), smaller(2n * market.baseFee + market.tip, cap))
  const tip = larger(raise(last.tip), market.tip)
  if (maxFee > cap || tip > maxFee || market.baseFee + tip > maxFee) return undefined
  return { maxFee, tip }
}

/** Whether blocks take it at today's base fee. */
export function isEnough({ maxFee, tip }: Fees, { baseFee }: FeeMarket): boolean {
  return maxFee >= baseFee + (tip < 1n ? tip : 1n)
}

/** Rounded up, and by one where an eighth of it is nothing. */
function raise(fee: bigint): bigint {
  return (fee * RAISE.numerator + RAISE.denominator - 1n) / RAISE.denominator
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
