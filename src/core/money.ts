/** USDC amounts in micro-units (6 decimals). Never use `number` for money. */
declare const unit: unique symbol
export type Usdc = bigint & { readonly [unit]: 'micro-usdc' }

export const MICRO_PER_USDC = 1_000_000n
const DECIMALS = 6
/** Largest amount: 18 digits, as existing x402 v1 client packages allow. */
export const MAX_AMOUNT = usdc(999_999_999_999_999_999n)
export const ZERO = usdc(0n)

/** Marks an integer as micro-USDC. */
export function usdc(micro: bigint): Usdc {
  return micro as Usdc
}

const AMOUNT = /^(\d{1,12})(?:\.(\d{1,6}))?$/

/** Parses `"0.50"` or `"$0.525"`. @returns undefined unless 1 to 12 digits precede the point and at most 6 follow */
export function parseAmount(text: string): Usdc | undefined {
  const match = AMOUNT.exec(text.startsWith('$') ? text.slice(1) : text)
  if (!match) return undefined
  return usdc(BigInt(match[1] ?? '') * MICRO_PER_USDC + BigInt((match[2] ?? '').padEnd(DECIMALS, '0')))
}

/** Parses text that must be a valid amount. @throws RangeError if it is not */
export function amountOf(text: string): Usdc {
  const amount = parseAmount(text)
  if (amount === undefined) throw new RangeError(`${text} is not an amount`)
  return amount
}

/** What a split pays the provider: its net share of what the buyer does not get, rounded down. The rest is the fee. */
export function netOfSplit({ amount, net, toBuyer }: { amount: Usdc; net: Usdc; toBuyer: Usdc }): Usdc {
  return amount === 0n ? ZERO : usdc((net * (amount - toBuyer)) / amount)
}

/** Decimal text with 2 to 6 decimals: 525000n → `"0.525"`, -1n → `"-0.000001"`. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? '-' : ''
  const magnitude = amount < 0n ? -amount : amount
  const cents = (magnitude % MICRO_PER_USDC).toString().padStart(DECIMALS, '0')
  const decimals = cents.slice(0, 2) + cents.slice(2).replace(/0+$/, '')
  return `${sign}${magnitude / MICRO_PER_USDC}.${decimals}`
}

/** `formatAmount` with a dollar sign: 525000n → `"$0.525"`. */
export function formatPrice(amount: bigint): string {
  return amount < 0n ? `-$${formatAmount(-amount)}` : `$${formatAmount(amount)}`
}
