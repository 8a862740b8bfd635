import { maxPriceHeader } from '../../../src/api/endpoint/credentials.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { formatAmount, parseAmount, type Usdc } from '../../../src/core/money.ts'
import type { Exchange } from '../../endpoint/exchange.ts'

/**
 * Whoever pays may say what it costs at most (decisions §4).
 * @throws AppError 400 on a bound that is no amount, 409 that names the price where it is above the bound.
 */
export function refuseAboveMax(exchange: Exchange, price: Usdc): void {
  const sent = exchange.header(maxPriceHeader)
  if (sent === undefined) return
  const bound = parseAmount(sent.trim())
  if (bound === undefined) throw invalidField(maxPriceHeader, 'must be dollars with at most 6 decimals, like 0.525')
  if (price <= bound) return
  throw new AppError(
    'conflict',
    `This costs $${formatAmount(price)} now, above the ${maxPriceHeader} of $${formatAmount(bound)}: nothing was charged.`,
    { extra: { price: formatAmount(price), max_price: formatAmount(bound) } },
  )
}
