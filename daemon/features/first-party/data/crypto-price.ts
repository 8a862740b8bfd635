import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { DAY_MS, SECOND_MS } from '../../../../src/core/time.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'

const KEEP_MS = 60_000
const Coin = z.record(z.string(), z.number().nullable())
const Answer = z.record(z.string(), Coin)
const ID = /^[a-z0-9._-]{1,80}$/
const CURRENCY = /^[a-z]{2,10}$/

export const cryptoPrice = defineService({
  slug: 'crypto_price',
  needs: ['coins'],
  isQuick: () => true,
  check(input) {
    if (!ID.test(idOf(input))) throw wrongField('coin_id', 'must be a CoinGecko coin id, such as bitcoin')
    if (!CURRENCY.test(currencyOf(input))) throw wrongField('vs_currency', 'must be a currency code, such as usd')
  },
  async read(input, { engines, signal }) {
    const wanted = { ids: idOf(input), vs_currencies: currencyOf(input) }
    const more = { include_24hr_change: 'true', include_market_cap: 'true', include_last_updated_at: 'true' }
    const path = `/simple/price?${new URLSearchParams({ ...wanted, ...more })}`
    return fromUpstream(engines.coins.ask({ path, schema: Answer, keepMs: KEEP_MS, signal }))
  },
  make(input, { value, at }): Json {
    const [id, currency] = [idOf(input), currencyOf(input)]
    const coin = Object.hasOwn(value, id) ? value[id] : undefined
    if (!coin) throw wrongField('coin_id', `unknown coin: ${id}; use its CoinGecko id, such as bitcoin`)
    const price = Object.hasOwn(coin, currency) ? coin[currency] : undefined
    if (price === undefined) throw wrongField('vs_currency', `unsupported currency: ${currency}`)
    if (price === null || price < 0) throw new AppError('provider_failed', 'No price is available now.')
    const updated = coin['last_updated_at']
    const asOf = typeof updated === 'number' ? updated * SECOND_MS : null
    if (asOf !== null && at - asOf > DAY_MS)
      throw new AppError('provider_failed', `The last price is from ${new Date(asOf).toISOString()}.`)
    return {
      coin_id: id,
      vs_currency: currency,
      price,
      change_24h_pct: coin[`${currency}_24h_change`] ?? null,
      // The source sends 0 for an unknown one.
      market_cap: coin[`${currency}_market_cap`] || null,
      as_of: asOf === null ? null : new Date(asOf).toISOString(),
      source: 'CoinGecko',
      attribution: 'Price data by CoinGecko (https://www.coingecko.com)',
      engine: { name: 'coingecko', version: '3', kind: 'upstream', fetched_at: new Date(at).toISOString() },
    }
  },
})

function idOf(input: Parameters<typeof textOf>[0]): string {
  return textOf(input, 'coin_id').trim().toLowerCase()
}

function currencyOf(input: Parameters<typeof textOf>[0]): string {
  return textOf(input, 'vs_currency').trim().toLowerCase() || 'usd'
}
