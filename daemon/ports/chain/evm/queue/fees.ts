/** Fees of a transaction, wei per gas. */
export type Fees = { readonly maxFee: bigint; readonly tip: bigint }

export type FeeMarket = { readonly baseFee: bigint; readonly tip: bigint }

/** Nodes require that a replacement raises both fees by 10 %; 1/8 is safe. */
const RAISE = { numerator: 9n, denominator: 8n }

/** Fees that allow the base fee to double; undefined if the current fee exceeds the cap. */
export function firstFees({ baseFee, tip }: FeeMarket, cap: bigint): Fees | undefined {
  const least = baseFee + tip
  if (least > cap) return undefined
  return { maxFee: smaller(2n * baseFee + tip, cap), tip }
}

/** Replacement fees: 1/8 higher, or the current fees if those are higher; undefined above the cap. */
export function raisedFees(last: Fees, market: FeeMarket, cap: bigint): Fees | undefined {
  const maxFee = larger(raise(last.maxFee), smaller(2n * market.baseFee + market.tip, cap))
  const tip = larger(raise(last.tip), market.tip)
  if (maxFee > cap || tip > maxFee || market.baseFee + tip > maxFee) return undefined
  return { maxFee, tip }
}

/** Whether a transaction with these fees can be mined at the current base fee. */
export function isEnough({ maxFee, tip }: Fees, { baseFee }: FeeMarket): boolean {
  return maxFee >= baseFee + (tip < 1n ? tip : 1n)
}

/** Raises a fee by 1/8, rounded up, and by at least 1. */
function raise(fee: bigint): bigint {
  return (fee * RAISE.numerator + RAISE.denominator - 1n) / RAISE.denominator
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
