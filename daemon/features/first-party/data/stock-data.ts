import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import type { MarketProvider } from '../../../../src/model/engines/config.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'
import { alphaVantage } from './stock-alpha-vantage.ts'
import type { StockSource } from './stock-source.ts'
import { twelveData } from './stock-twelve-data.ts'

const KEEP_MS = 60_000
const SYMBOL = /^[A-Z0-9.^=:/-]{1,20}$/

const sources: Readonly<Record<MarketProvider, StockSource>> = { alphavantage: alphaVantage, twelvedata: twelveData }

/** A quote, or the last hundred days of prices, of a listed security. */
export const stockData = defineService({
  slug: 'stock_data',
  needs: ['market'],
  isQuick: () => true,
  check(input) {
    if (!SYMBOL.test(symbolOf(input))) throw wrongField('symbol', 'must be a ticker symbol, such as AAPL')
  },
  async read(input, { engines: { market }, signal }) {
    const isHistory = input['data_type'] === 'historical'
    const source = sources[market.provider ?? 'twelvedata']
    const path = source.path(symbolOf(input), isHistory)
    const asked = market.ask({ path, schema: source.answers(isHistory), keepMs: KEEP_MS, signal })
    return { source, ...(await fromUpstream(asked, 'symbol')) }
  },
  make(_, { source: { engine, source, terms_url }, value, at }): Json {
    const { history, price, as_of, currency = 'unknown', ...rest } = value
    return {
      ...compact(rest),
      currency,
      data_type: history ? 'historical' : 'quote',
      price,
      as_of,
      ...(history ? { history: history.map((day) => ({ ...day })) } : {}),
      delayed: 'unknown',
      source,
      terms_url,
      engine: { name: engine, version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
    }
  },
})

function symbolOf(input: Parameters<typeof textOf>[0]): string {
  return textOf(input, 'symbol').trim().toUpperCase()
}
