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

const MAX_DAYS = 200

/** Response to too many requests, or to a bad key: a text instead of prices. */
const Busy = z.union([z.object({ Note: z.string() }), z.object({ Information: z.string() })]).transform((): never => {
  throw busySource()
})
const Unknown = z.object({ 'Error Message': z.string() }).transform((): never => {
  throw unknownSymbol()
})
const Percent = z
  .string()
  .regex(/%$/)
  .transform((text) => text.slice(0, -1))
  .pipe(Numeric)
const Quote = z
  .object({
    'Global Quote': z.object({
      '01. symbol': Text,
      '02. open': Numeric,
      '03. high': Numeric,
      '04. low': Numeric,
      '05. price': Numeric,
      '06. volume': Numeric,
      '07. latest trading day': Day,
      '08. previous close': Numeric,
      '09. change': Numeric,
      '10. change percent': Percent,
    }),
  })
  .transform(
    ({ 'Global Quote': quote }): StockFacts => ({
      symbol: quote['01. symbol'],
      open: quote['02. open'],
      high: quote['03. high'],
      low: quote['04. low'],
      volume: quote['06. volume'],
      previous_close: quote['08. previous close'],
      change: quote['09. change'],
      change_pct: quote['10. change percent'],
      price: quote['05. price'],
      as_of: quote['07. latest trading day'],
    }),
  )
/** Response with a quote; empty for an unknown symbol. */
const Quoted = z
  .object({ 'Global Quote': z.record(z.string(), z.unknown()) })
  .transform((answer) => {
    if (Object.keys(answer['Global Quote']).length === 0) throw unknownSymbol()
    return answer
  })
  .pipe(Quote)
const Value = z.object({
  '1. open': Numeric,
  '2. high': Numeric,
  '3. low': Numeric,
  '4. close': Numeric,
  '5. volume': Numeric,
})
const Series = z
  .object({
    'Meta Data': z.object({ '2. Symbol': Text }),
    'Time Series (Daily)': z.record(Day, Value).refine((days) => Object.keys(days).length <= MAX_DAYS),
  })
  .transform(({ 'Meta Data': meta, 'Time Series (Daily)': days }, context): StockFacts => {
    const history = Object.entries(days)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .slice(-STOCK_DAYS)
      .map(([date, day]) => ({
        date,
        open: day['1. open'],
        high: day['2. high'],
        low: day['3. low'],
        close: day['4. close'],
        volume: day['5. volume'],
      }))
    const newest = history.at(-1)
    if (newest) return { symbol: meta['2. Symbol'], price: newest.close, as_of: newest.date, history }
    context.addIssue({ code: 'custom', message: 'no day' })
    return z.NEVER
  })

export const alphaVantage: StockSource = {
  engine: 'alphavantage',
  source: 'Alpha Vantage',
  terms_url: 'https://www.alphavantage.co/terms_of_service/',
  path(symbol, isHistory) {
    const query = isHistory ? { function: 'TIME_SERIES_DAILY', outputsize: 'compact' } : { function: 'GLOBAL_QUOTE' }
    return `/query?${new URLSearchParams({ ...query, symbol })}`
  },
  answers: (isHistory) => z.union([Busy, Unknown, isHistory ? Series : Quoted]),
}
