const AMOUNT = /^\$?(\d{1,12})(?:\.(\d{1,6}))?$/
const DECIMALS = 6
const MICRO = 1_000_000n

/** `$0.525` or `0.525` as micro-USDC; undefined for what is no amount. */
export function microOf(amount: string): bigint | undefined {
  const [, whole, part = ''] = AMOUNT.exec(amount) ?? []
  return whole === undefined ? undefined : BigInt(whole) * MICRO + BigInt(part.padEnd(DECIMALS, '0'))
}

/** Micro-USDC as `$0.525`, with 2 to 6 decimals. */
export function dollars(micro: bigint): string {
  const part = (micro % MICRO).toString().padStart(DECIMALS, '0')
  return `$${micro / MICRO}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`
}
