import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openUpstream } from '../../../ports/upstream/upstream.ts'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { cryptoPrice } from './crypto-price.ts'

const AT = Date.parse('2026-06-01T00:00:00Z')
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const run = (input: JsonInput) => {
  const coins = openUpstream({
    web: site.web({ exempt: () => false, wall: () => AT }),
    wall: () => AT,
    name: 'It',
    base: site.at('/coins'),
    headers: { 'x-cg-demo-api-key': 'secret' },
    fix: 'nothing',
  })
  return delivered({ service: cryptoPrice, input, means: { engines: { coins }, now: () => AT } })
}
const json = (value: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) })

describe('the price of a coin', () => {
  it('keeps the digits of tiny prices, and sends the key in a header alone', async () => {
    const seen: IncomingMessage[] = []
    site.pages['/coins/simple/price'] = (req: IncomingMessage, res: ServerResponse) => {
      seen.push(req)
      res.end('{"dust": {"usd": 0.000000001234, "usd_24h_change": null, "last_updated_at": 1780250000}}')
    }
    const result = await run({ coin_id: 'Dust', vs_currency: 'usd' })
    expect(result).toMatchObject({
      coin_id: 'dust',
      price: 1.234e-9,
      change_24h_pct: null,
      as_of: '2026-05-31T17:53:20.000Z',
    })
    expect(seen[0]?.headers['x-cg-demo-api-key']).toBe('secret')
    expect(JSON.stringify(result) + seen[0]?.url).not.toContain('secret')
  })

  it.each([
    ['coin_id', {}],
    ['vs_currency', { duck: { eur: 1 } }],
    ['vs_currency', { duck: {} }],
  ])('names %s where the upstream does not know it', async (path, answer) => {
    site.pages['/coins/simple/price'] = json(answer)
    await expect(run({ coin_id: 'duck' })).rejects.toMatchObject({
      code: 'input_invalid',
      details: [{ path }],
    })
  })

  it.each([
    ['constructor', 'name'],
    ['__proto__', 'usd'],
    ['tostring', 'length'],
  ])('is never read from %s, which is no coin', async (coin_id, vs_currency) => {
    site.pages['/coins/simple/price'] = json({})
    await expect(run({ coin_id, vs_currency })).rejects.toMatchObject({
      code: 'input_invalid',
      details: [{ path: 'coin_id' }],
    })
  })

  it('is none where nobody trades the coin any more, and unknown stays unknown', async () => {
    site.pages['/coins/simple/price'] = json({ old: { usd: 1, last_updated_at: 1_580_000_000 } })
    await expect(run({ coin_id: 'old' })).rejects.toMatchObject({ code: 'provider_failed' })
    site.pages['/coins/simple/price'] = json({ new: { usd: 1, usd_market_cap: 0 } })
    expect(await run({ coin_id: 'new' })).toMatchObject({ market_cap: null, as_of: null })
  })

  it('is refused before payment for what is no id', () => {
    expect(() => cryptoPrice.check({ coin_id: 'a&ids=b' })).toThrow(/^coin_id: /)
  })
})
