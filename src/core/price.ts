import { type AppError, invalidField } from './error.ts'
import { parseAmount, type Usdc, usdc } from './money.ts'

export const PRICE_STEP = usdc(1_000n)
export const MIN_PRICE = usdc(1_000n)
export const MAX_PRICE = usdc(10_000_000_000n)

/** Whether an amount is a valid price (decisions §5). */
export function isPrice(amount: bigint): boolean {
  return amount >= MIN_PRICE && amount <= MAX_PRICE && amount % PRICE_STEP === 0n
}

/**
 * Parses a price: `"0.50"`, `"$0.50"`, `0.5`, `{ fixed: <any of these> }`.
 * @param path field name for errors
 * @throws AppError invalid_request that names the field
 */
export function parsePrice(input: unknown, path = 'price'): Usdc {
  if (typeof input !== 'object' || input === null) return readPrice(input, path)
  const { fixed, ...others } = input as Record<string, unknown>
  const stranger = Object.keys(others)[0]
  if (Array.isArray(input) || stranger !== undefined || fixed === undefined) throw notAPrice(path)
  return readPrice(fixed, `${path}.fixed`)
}

function readPrice(input: unknown, path: string): Usdc {
  // String() gives the digits as they were written. Extra decimals are refused, not rounded.
  const text = typeof input === 'number' ? String(input) : input
  const amount = typeof text === 'string' ? parseAmount(text) : undefined
  if (amount === undefined || !isPrice(amount)) throw notAPrice(path)
  return amount
}

function notAPrice(path: string): AppError {
  return invalidField(
    path,
    'must be a multiple of $0.001 from $0.001 to $10,000, like "0.50", "$0.50" or {"fixed": "0.50"}',
  )
}
