import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Page, type Responder, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { Numeric, stockData } from './stock-data.ts'

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
/** The source as it answers: what it knows, and how it says that it gives nothing. */
const told = {
  quote: json(quoted),
  history: json({
    meta: { symbol: 'DUCK', currency: 'USD' },
    values: [day('2026-05-29', '3'), day('2026-05-28', '2')],
    status: 'ok',
  }),
}
const failed = (code: number) => json({ code, status: 'error', message: 'secret words' })
// 403: a security that is not part of the account's plan.
const unknown = [failed(404), failed(400), failed(403), { ...failed(404), status: 404 }]
const busy = [failed(429), failed(401)]

describe('prices of shares', () => {
  const engine = () =>
    openUpstream({
      web: site.web({ exempt: () => false, wall: () => AT }),
      wall: () => AT,
      name: 'It',
      base: site.at('/market'),
      fix: 'nothing',
      headers: { authorization: 'apikey top-secret' },
    })
  const answer = (pages: Page | Told | Responder) => {
    const { quote, history } = typeof pages === 'object' && 'quote' in pages ? pages : { quote: pages, history: pages }
    site.pages['/market/quote'] = quote
    site.pages['/market/time_series'] = history
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
      engine: { name: 'twelvedata', kind: 'upstream' },
    })
    expect(result.currency).toBe('USD')
    expect(JSON.stringify(result)).not.toContain('top-secret')
  })

  it.each([
    [1_777_000_000, { code: 'provider_failed' }],
    [1_779_000_000, { is_market_open: false }],
  ])('of %d are a quote for a month', async (last_quote_at, made) => {
    answer(json({ ...quoted, last_quote_at, is_market_open: false }))
    const asked = buy({ symbol: 'DUCK' })
    await ('code' in made ? expect(asked).rejects : expect(asked).resolves).toMatchObject(made)
  })

  it('have a history, newest last', async () => {
    answer(told)
    const result = await buy({ symbol: 'DUCK', data_type: 'historical' })
    expect(result).toMatchObject({ data_type: 'historical', price: 3, as_of: '2026-05-29', adjusted: 'splits' })
    expect(site.asked.at(-1)).toContain('adjust=splits')
    expect(result.history).toEqual([
      { date: '2026-05-28', open: 1, high: 2, low: 1, close: 2, volume: 7 },
      { date: '2026-05-29', open: 1, high: 2, low: 1, close: 3, volume: 7 },
    ])
  })

  it.each(['NaN', 'Infinity', '', '1e5', '0x10', '12,50', 'null', ' 1'])('%j is no price', async (price) => {
    answer(json({ ...quoted, close: price }))
    await expect(buy({ symbol: 'DUCK' })).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it.each(unknown.map((page) => [page]))(
    'of a symbol that it does not know are refused by that field: %j',
    async (page) => {
      for (const data_type of ['quote', 'historical']) {
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
    expect(seen[0]).toContain('/market/quote?symbol=DUCK apikey')
    expect(JSON.stringify(market.standing())).not.toContain('top-secret')
  })
})

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
