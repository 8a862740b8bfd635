import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { UpstreamError } from '../../../ports/upstream/upstream.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'

const KEEP_MS = 60_000
const SYMBOL = /^[A-Z0-9.^=:/-]{1,20}$/
const HISTORY_DAYS = 100
/** Longer than any market closes: an older quote is of a share that is no longer traded. */
const MAX_AGE_MS = 30 * DAY_MS
/** Error codes for an unknown or unavailable security. */
const OF_SYMBOL: readonly number[] = [400, 403, 404]

/** Converts numbers that come as text; refuses invalid ones. */
export const Numeric = z
  .string()
  .regex(/^-?\d{1,20}(\.\d{1,20})?$/)
  .transform(Number)
const Text = z.string().max(200)
const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?$/)

/** Twelve Data reports failures with HTTP status 200. */
const Failed = z.object({ status: z.literal('error'), code: z.number() }).transform(({ code }): never => {
  if (OF_SYMBOL.includes(code)) throw new UpstreamError('asker', 'unknown to the price source, or not covered by it')
  throw new UpstreamError('busy', 'The price source is busy or failing.')
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
    is_market_open: z.boolean().optional(),
  })
  .transform(({ datetime, last_quote_at, close, percent_change, ...facts }) => ({
    ...facts,
    price: close,
    change_pct: percent_change,
    as_of: last_quote_at === undefined ? datetime : new Date(last_quote_at * 1_000).toISOString(),
  }))
const Value = z
  .object({ datetime: Day, open: Numeric, high: Numeric, low: Numeric, close: Numeric, volume: Numeric.optional() })
  .transform(({ datetime, volume, ...day }) => ({ date: datetime, ...day, volume: volume ?? null }))
const Series = z
  .object({
    meta: z.object({ symbol: Text, currency: Text.optional(), exchange: Text.optional() }),
    values: z.tuple([Value], Value).refine((values) => values.length <= HISTORY_DAYS),
  })
  .transform(({ meta, values }) => {
    const [newest] = values
    // Newest day last, for charts.
    return { ...meta, price: newest.close, as_of: newest.date, history: values.toReversed() }
  })

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
    const symbol = symbolOf(input)
    const days = { interval: '1day', outputsize: String(HISTORY_DAYS), adjust: 'splits' }
    const query = { symbol, ...(isHistory ? days : {}) }
    const path = `${isHistory ? '/time_series' : '/quote'}?${new URLSearchParams(query)}`
    const schema = z.union([Failed, isHistory ? Series : Quote])
    return fromUpstream(market.ask({ path, schema, keepMs: KEEP_MS, signal }), 'symbol')
  },
  make(_, { value, at }): Json {
    const { price, as_of, currency = 'unknown', ...rest } = value
    const history = 'history' in rest ? rest.history : undefined
    if (!history && at - Date.parse(as_of) > MAX_AGE_MS)
      throw new AppError('provider_failed', `The last quote is from ${as_of}.`)
    return {
      ...compact(rest),
      currency,
      data_type: history ? 'historical' : 'quote',
      price,
      as_of,
      ...(history ? { adjusted: 'splits', history: history.map((day) => ({ ...day })) } : {}),
      delayed: 'unknown',
      source: 'Twelve Data',
      terms_url: 'https://twelvedata.com/terms',
      engine: { name: 'twelvedata', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
    }
  },
})

function symbolOf(input: Parameters<typeof textOf>[0]): string {
  return textOf(input, 'symbol').trim().toUpperCase()
}
