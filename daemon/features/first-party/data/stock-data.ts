import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { compact } from '../../../../src/core/record.ts'
import { defineService, textOf, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'

const KEEP_MS = 60_000
const DAYS = 100
const SYMBOL = /^[A-Z0-9.^=:/-]{1,20}$/
const NOT_FOUND = 404
const BAD_REQUEST = 400

/** Numbers come as text; what is none is refused, never read as something near. */
const Numeric = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .transform(Number)
const Text = z.string().max(200)
const Failed = z.object({ status: z.literal('error'), code: z.number() })
const Quote = z.object({
  symbol: Text,
  name: Text.optional(),
  exchange: Text.optional(),
  currency: Text.optional(),
  datetime: Text,
  timestamp: z.number().optional(),
  open: Numeric.optional(),
  high: Numeric.optional(),
  low: Numeric.optional(),
  close: Numeric,
  volume: Numeric.optional(),
  previous_close: Numeric.optional(),
  change: Numeric.optional(),
  percent_change: Numeric.optional(),
})
const Day = z.object({
  datetime: Text,
  open: Numeric,
  high: Numeric,
  low: Numeric,
  close: Numeric,
  volume: Numeric.optional(),
})
const Series = z.object({
  meta: z.object({ symbol: Text, currency: Text.optional(), exchange: Text.optional() }),
  values: z.array(Day).min(1).max(DAYS),
})

/** A quote, or the last hundred days of prices, of a listed security. */
export const stockData = defineService({
  slug: 'stock_data',
  needs: ['market'],
  isQuick: () => true,
  check(input) {
    if (!SYMBOL.test(symbolOf(input))) throw wrongField('symbol', 'is no symbol, such as AAPL')
  },
  async read(input, { engines, signal }) {
    const isHistory = input['data_type'] === 'historical'
    const symbol = symbolOf(input)
    const query = isHistory ? { symbol, interval: '1day', outputsize: String(DAYS) } : { symbol }
    const path = `${isHistory ? '/time_series' : '/quote'}?${new URLSearchParams(query)}`
    const schema = z.union([Failed, isHistory ? Series : Quote])
    return fromUpstream(
      engines.market.ask<z.output<typeof schema>>({ path, schema, keepMs: KEEP_MS, signal }),
      'symbol',
    )
  },
  make(input, { value, at }): Json {
    if ('code' in value) throw refused(value.code, symbolOf(input))
    const common = {
      delayed: 'unknown',
      source: 'Twelve Data',
      terms_url: 'https://twelvedata.com/terms',
      engine: { name: 'twelvedata', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
    }
    return 'values' in value ? historyOf(value, common) : quoteOf(value, common)
  },
})

type Common = { readonly [member: string]: Json }

function quoteOf(quote: z.output<typeof Quote>, common: Common): Json {
  const { datetime, timestamp, close, percent_change, ...rest } = quote
  const shown = Object.entries(rest).filter(([, value]) => value !== undefined)
  return {
    ...(Object.fromEntries(shown) as Common), // texts and numbers
    data_type: 'quote',
    price: close,
    ...compact({ change_pct: percent_change }),
    currency: quote.currency ?? 'unknown',
    as_of: timestamp === undefined ? datetime : new Date(timestamp * 1_000).toISOString(),
    ...common,
  }
}

/** Newest last, as a chart is drawn. */
function historyOf({ meta, values }: z.output<typeof Series>, common: Common): Json {
  const history = values
    .map(({ datetime, volume, ...day }) => ({ date: datetime, ...day, volume: volume ?? null }))
    .toReversed()
  const last = history.at(-1)
  return {
    symbol: meta.symbol,
    data_type: 'historical',
    ...compact({ exchange: meta.exchange }),
    currency: meta.currency ?? 'unknown',
    price: last?.close ?? 0,
    as_of: last?.date ?? '',
    history,
    ...common,
  }
}

/** Errors come with the status 200 of HTTP, and say it inside. */
function refused(code: number, symbol: string): AppError {
  if (code === NOT_FOUND || code === BAD_REQUEST) return wrongField('symbol', `is not known: ${symbol}`)
  return new AppError('provider_failed', 'The source of prices is busy or failing.')
}

function symbolOf(input: Parameters<typeof textOf>[0]): string {
  return textOf(input, 'symbol').trim().toUpperCase()
}
