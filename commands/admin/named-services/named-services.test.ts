import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSite, type Site } from '../../../daemon/ports/web/site.testkit.ts'
import { openRemoteMarket, type RemoteMarket } from '../../../fixtures/kit/remote-market.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { usdc } from '../../../src/core/money.ts'

/* An advertised path sells a function of the house after one command, to clients that know nothing of us. */

const PATH = '/v1/services/site-audit'
const PRICE = usdc(5_000_000n)
const FUNDS = usdc(9_000_000n)
let site: Site
let shop: RemoteMarket
beforeAll(async () => {
  const body = '<html lang="en"><head><title>Ducks of the pond</title></head><body><h1>Ducks</h1></body></html>'
  site = await openSite({ '/': { body } })
  shop = await openRemoteMarket({
    web: { resolve: async () => [{ address: '127.0.0.1', family: 4 }], exempt: ({ port }) => port === site.port },
  })
})
afterAll(async () => {
  await shop.market.close()
  await site.close()
})

const set = (...words: string[]) => shop.souk(['admin', 'named-services', 'set', 'site-audit', ...words])
const shown = () => shop.json(['admin', 'named-services', 'list'])

test('an advertised path is 404 until something is sold there', async () => {
  const fresh = await openRemoteMarket()
  expect((await fresh.market.call('POST', PATH)).status).toBe(404)
  await fresh.market.close()
})

test.each<[string, string[], RegExp]>([
  ['a price outside the advertised range', ['--from', 'seo_audit', '--price', '4.99'], /must cost buyers \$5\.00/],
  ['no price', ['--from', 'seo_audit'], /price/],
  ['a function that nobody has', ['--from', 'seo_magic', '--price', '5.00'], /from/],
  ['two ways at once', ['--from', 'seo_audit', '--price', '5.00', '--plan', 'plan_0123456789abcdef'], /plan|from/],
  ['nothing', [], /--from/],
])('%s is refused by its name and changes nothing', async (_, words, named) => {
  const answers = async () => (await shop.market.call('POST', PATH)).status
  const before = [await shown(), await answers()]
  const { code, err } = await set(...words)
  expect([code === 0, err]).toEqual([false, expect.stringMatching(named)])
  expect([await shown(), await answers()]).toEqual(before)
})

test.each([1, 2] as const)('after one command a published client of x402 (%i) buys by the path', async (version) => {
  const { code, out } = await set('--from', 'seo_audit', '--price', '5.00')
  expect([code, out]).toEqual([0, expect.stringContaining('site-audit')])
  const buyer = await shop.market.buyer('9.00')
  const response = await buyer.fetch(version)(`${shop.market.url()}${PATH}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ site_url: site.at('/') }),
  })
  const bought: Answer['body'] = await response.json()
  expect([response.status, bought.amount]).toEqual([200, '5.00'])
  const headers = { Authorization: `Bearer ${bought.access_token}` }
  const job = async () => (await shop.market.call('GET', `/v1/jobs/${bought.job_id}`, { headers })).body
  await expect.poll(async () => (await job()).status).toMatch(/completed|verified|released/)
  expect((await job()).deliverables[0]).toMatchObject({ score: expect.any(Number), engine: { name: 'souk' } })
  expect(await shop.market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(FUNDS - PRICE)
})

test('what is wrong with an input is told before anything is paid', async () => {
  await set('--from', 'seo_audit', '--price', '5.00')
  const buyer = await shop.market.buyer('9.00')
  const send = (body: object) =>
    buyer.fetch(2)(`${shop.market.url()}${PATH}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (const body of [{}, { site_url: 7 }, { site_url: 'http://169.254.169.254/' }]) {
    const refused = await send(body)
    const said: Answer['body'] = await refused.json()
    expect([refused.status, said.details?.[0]?.path]).toEqual([400, 'site_url'])
  }
  expect(await shop.market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(FUNDS)
})
