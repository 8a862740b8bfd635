import type { IncomingMessage, ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Page, type Responder, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { stockData } from './stock-data.ts'
import { Numeric } from './stock-source.ts'

const AT = Date.parse('2026-06-01T00:00:00Z')
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const json = (value: unknown): Page => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

type Told = { readonly quote: Page; readonly history: Page }
const quoted = {
  symbol: 'DUCK',
  name: 'Duck Inc',
  exchange: 'NYSE',
  currency: 'USD',
  datetime: '2026-05-29',
  timestamp: 1_780_000_000,
  last_quote_at: 1_780_086_400,
  open: '12.40',
  high: '12.60',
  low: '12.10',
  close: '12.50',
  volume: '100',
  previous_close: '12.69',
  change: '-0.19',
  percent_change: '-1.5',
}
const day = (datetime: string, close: string) => ({ datetime, open: '1', high: '2', low: '1', close, volume: '7' })
const global = {
  '01. symbol': 'DUCK',
  '02. open': '12.4000',
  '03. high': '12.6000',
  '04. low': '12.1000',
  '05. price': '12.5000',
  '06. volume': '100',
  '07. latest trading day': '2026-05-29',
  '08. previous close': '12.6900',
  '09. change': '-0.1900',
  '10. change percent': '-1.5%',
}
const daily = (close: string) => ({
  '1. open': '1',
  '2. high': '2',
  '3. low': '1',
  '4. close': close,
  '5. volume': '7',
})

/** Each source as it answers: what it knows, and how it says that it gives nothing. */
const providers = {
  twelvedata: {
    told: {
      quote: json(quoted),
      history: json({
        meta: { symbol: 'DUCK', currency: 'USD' },
        values: [day('2026-05-29', '3'), day('2026-05-28', '2')],
        status: 'ok',
      }),
    },
    withPrice: (price: string) => json({ ...quoted, close: price }),
    unknown: [
      json({ code: 404, status: 'error', message: 'secret words', meta: { symbol: 'NONE' } }),
      json({ code: 400, status: 'error', message: 'secret words' }),
      // A security that is not part of the account's plan.
      json({ code: 403, status: 'error', message: 'secret words' }),
      { ...json({ code: 404, status: 'error', message: 'secret words' }), status: 404 },
    ],
    busy: [
      json({ code: 429, status: 'error', message: 'secret words' }),
      json({ code: 401, status: 'error', message: 'secret words' }),
    ],
  },
  alphavantage: {
    told: {
      quote: json({ 'Global Quote': global }),
      history: json({
        'Meta Data': { '1. Information': 'Daily', '2. Symbol': 'DUCK', '3. Last Refreshed': '2026-05-29' },
        'Time Series (Daily)': { '2026-05-29': daily('3.0000'), '2026-05-28': daily('2.0000') },
      }),
    },
    withPrice: (price: string) => json({ 'Global Quote': { ...global, '05. price': price } }),
    unknown: [json({ 'Global Quote': {} }), json({ 'Error Message': 'secret words' })],
    busy: [json({ Note: 'secret words' }), json({ Information: 'secret words' })],
  },
} as const

describe.each(Object.entries(providers))(
  'prices of shares by %s',
  (...[provider, { told, withPrice, unknown, busy }]) => {
    const key =
      provider === 'alphavantage'
        ? { query: { apikey: 'top-secret' } }
        : { headers: { authorization: 'apikey top-secret' } }
    const engine = () => {
      const upstream = openUpstream({
        web: site.web({ exempt: () => false }),
        wall: Date.now,
        name: 'It',
        base: site.at('/market'),
        fix: 'nothing',
        ...key,
      })
      return { ...upstream, provider: provider as keyof typeof providers }
    }
    const answer = (pages: Page | Told | Responder) => {
      const { quote, history } =
        typeof pages === 'object' && 'quote' in pages ? pages : { quote: pages, history: pages }
      const isHistory = (url = '') => url.includes('TIME_SERIES')
      const serve = (page: Page | Responder, [req, res]: [IncomingMessage, ServerResponse]) =>
        typeof page === 'function' ? page(req, res) : res.writeHead(page.status ?? 200, page.headers).end(page.body)
      site.pages['/market/quote'] = quote
      site.pages['/market/time_series'] = history
      site.pages['/market/query'] = (...asked) => void serve(isHistory(asked[0].url) ? history : quote, asked)
    }
    const buy = (input: JsonInput, market = engine()) =>
      delivered({ service: stockData, input, means: { engines: { market }, now: () => AT } })

    it('are numbers out of texts, with what moved since yesterday', async () => {
      answer(told)
      const result = await buy({ symbol: 'duck' })
      expect(result).toMatchObject({
        symbol: 'DUCK',
        data_type: 'quote',
        price: 12.5,
        open: 12.4,
        high: 12.6,
        low: 12.1,
        previous_close: 12.69,
        change: -0.19,
        change_pct: -1.5,
        volume: 100,
        as_of: expect.stringMatching(/^2026-05-29/),
        engine: { name: provider, kind: 'upstream' },
      })
      expect(result.currency).toBe(provider === 'twelvedata' ? 'USD' : 'unknown')
      expect(JSON.stringify(result)).not.toContain('top-secret')
    })

    it('have a history, newest last', async () => {
      answer(told)
      const result = await buy({ symbol: 'DUCK', data_type: 'historical' })
      expect(result).toMatchObject({ data_type: 'historical', price: 3, as_of: '2026-05-29' })
      expect(result.history).toEqual([
        { date: '2026-05-28', open: 1, high: 2, low: 1, close: 2, volume: 7 },
        { date: '2026-05-29', open: 1, high: 2, low: 1, close: 3, volume: 7 },
      ])
    })

    it.each(['NaN', 'Infinity', '', '1e5', '0x10', '12,50', 'null', ' 1'])('%j is no price', async (price) => {
      answer(withPrice(price))
      await expect(buy({ symbol: 'DUCK' })).rejects.toMatchObject({ code: 'provider_failed' })
    })

    it.each(unknown.map((page) => [page]))(
      'of a symbol that it does not know are refused by that field: %j',
      async (page) => {
        for (const data_type of ['quote', 'historical']) {
          if (page.body === providers.alphavantage.unknown[0].body && data_type === 'historical') continue
          answer(page)
          await expect(buy({ symbol: 'NONE', data_type })).rejects.toMatchObject({
            code: 'input_invalid',
            message: expect.not.stringContaining('secret'),
            details: [{ path: 'symbol' }],
          })
        }
      },
    )

    it.each(busy.map((page) => [page]))('while it gives none are a failure that is not kept: %j', async (page) => {
      answer(page)
      const market = engine()
      await expect(buy({ symbol: 'DUCK' }, market)).rejects.toMatchObject({
        code: 'provider_failed',
        message: expect.not.stringContaining('secret'),
      })
      answer(told)
      await expect(buy({ symbol: 'DUCK' }, market)).resolves.toMatchObject({ price: 12.5 })
    })

    it('are asked for once a minute, under a key that is in one place', async () => {
      const seen: string[] = []
      answer((req, res) => {
        seen.push(`${req.url} ${req.headers.authorization ?? ''}`)
        res.end(told.quote.body)
      })
      const market = engine()
      await buy({ symbol: 'DUCK' }, market)
      await buy({ symbol: 'DUCK' }, market)
      expect(seen).toHaveLength(1)
      expect(seen[0]?.split('top-secret')).toHaveLength(2)
      expect(seen[0]?.startsWith('/market/query?') ?? false).toBe(provider === 'alphavantage')
      expect(JSON.stringify(market.standing())).not.toContain('top-secret')
    })
  },
)

it('a symbol is one before anybody is asked or paid', () => {
  for (const symbol of ['', ' ', 'a&b', 'A B', 'x'.repeat(21), 'DÜCK']) {
    expect(() => stockData.check({ symbol })).toThrow(/^symbol: /)
  }
  for (const symbol of ['AAPL', 'brk.b', '^GSPC', 'EUR/USD', 'BTC-USD'])
    expect(() => stockData.check({ symbol })).not.toThrow()
})

it('a price is a number that is written out, or none', () => {
  const text = fc.oneof(
    fc.string(),
    fc.double().map(String),
    fc.float().map((value) => value.toFixed(4)),
  )
  fc.assert(
    fc.property(text, (said) => {
      const parsed = Numeric.safeParse(said)
      if (parsed.success) expect([Number.isFinite(parsed.data), parsed.data]).toEqual([true, Number(said)])
    }),
  )
})
