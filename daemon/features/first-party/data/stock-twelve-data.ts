import { z } from 'zod'
import {
  busySource,
  Day,
  Numeric,
  STOCK_DAYS,
  type StockFacts,
  type StockSource,
  Text,
  unknownSymbol,
} from './stock-source.ts'

/** Error codes for an unknown or unavailable security. */
const OF_SYMBOL: readonly number[] = [400, 403, 404]

const Failed = z.object({ status: z.literal('error'), code: z.number() }).transform(({ code }): never => {
  throw OF_SYMBOL.includes(code) ? unknownSymbol() : busySource()
})
const Quote = z
  .object({
    symbol: Text,
    name: Text.optional(),
    exchange: Text.optional(),
    currency: Text.optional(),
    datetime: Day,
    /** Time of the quote. `timestamp` is no replacement: it is when the day's trading began. */
    last_quote_at: z.int().min(0).max(1e11).optional(),
    open: Numeric.optional(),
    high: Numeric.optional(),
    low: Numeric.optional(),
    close: Numeric,
    volume: Numeric.optional(),
    previous_close: Numeric.optional(),
    change: Numeric.optional(),
    percent_change: Numeric.optional(),
  })
  .transform(
    ({ datetime, last_quote_at, close, percent_change, ...facts }): StockFacts => ({
      ...facts,
      price: close,
      change_pct: percent_change,
      as_of: last_quote_at === undefined ? datetime : new Date(last_quote_at * 1_000).toISOString(),
    }),
  )
const Value = z
  .object({ datetime: Day, open: Numeric, high: Numeric, low: Numeric, close: Numeric, volume: Numeric.optional() })
  .transform(({ datetime, volume, ...day }) => ({ date: datetime, ...day, volume: volume ?? null }))
const Series = z
  .object({
    meta: z.object({ symbol: Text, currency: Text.optional(), exchange: Text.optional() }),
    values: z.tuple([Value], Value).refine((values) => values.length <= STOCK_DAYS),
  })
  .transform(({ meta, values }): StockFacts => {
    const [newest] = values
    return { ...meta, price: newest.close, as_of: newest.date, history: values.toReversed() }
  })

export const twelveData: StockSource = {
  engine: 'twelvedata',
  source: 'Twelve Data',
  terms_url: 'https://twelvedata.com/terms',
  path(symbol, isHistory) {
    const query = isHistory ? { symbol, interval: '1day', outputsize: String(STOCK_DAYS) } : { symbol }
    return `${isHistory ? '/time_series' : '/quote'}?${new URLSearchParams(query)}`
  },
  answers: (isHistory) => z.union([Failed, isHistory ? Series : Quote]),
}
