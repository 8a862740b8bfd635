import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { openSite, type Site } from '../../ports/web/site.testkit.ts'
import { commit } from '../../store/draw.ts'
import { services } from '../listings/rows.ts'

let market: Marketplace
let site: Site
beforeAll(async () => {
  site = await openSite()
  market = await openMarketplace({ engines: { coins: { url: site.at('/coins', '127.0.0.1'), plan: 'demo' } } })
})
afterAll(async () => {
  await market.close()
  await site.close()
})

const statusOf = async (slug: string) =>
  (await market.call('GET', `/v1/services/${await market.serviceId(slug)}`)).body.status
const listed = async () => {
  const { body } = await market.call('GET', '/v1/services/catalog?limit=100')
  return body.services.map(({ name }: { name: string }) => name)
}
const buy = async (slug: string, body: object) => {
  const buyer = await market.buyer('1.00')
  const path = `${market.url()}/v1/services/${await market.serviceId(slug)}/purchase`
  const headers = { 'Content-Type': 'application/json' }
  const response = await buyer.fetch(1)(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const left = await market.daemon.ctx.chain.balanceOf(buyer.wallet)
  return { status: response.status, body: await response.json(), paid: 1_000_000n - left, headers: response.headers }
}

test('a listing whose engine is not configured is inactive, unlisted, and answers 503 before any 402', async () => {
  expect(await statusOf('weather')).toBe('inactive')
  expect(await listed()).not.toContain('Weather')
  const asked = await market.call('POST', `/v1/services/${await market.serviceId('weather')}/purchase`, {
    body: { city: 'Bremen' },
  })
  expect(asked).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(asked.headers.get('retry-after')).toBe('60')
})

test('one whose engine is there is bought, and what made it is said', async () => {
  site.pages['/coins/simple/price'] = { body: '{"duck": {"usd": 2}}' }
  expect(await statusOf('crypto_price')).toBe('active')
  expect(await buy('crypto_price', { coin_id: 'duck' })).toMatchObject({
    status: 200,
    body: { result: { price: 2, engine: { name: 'coingecko', kind: 'upstream' } } },
  })
})

test('what is wrong with an input is said before anything is paid, also of work that takes longer', async () => {
  const refused = await buy('seo_audit', { site_url: 'http://169.254.169.254/' })
  expect(refused).toMatchObject({
    status: 400,
    paid: 0n,
    body: { code: 'input_invalid', details: [{ path: 'site_url' }] },
  })
})

test('an upstream that failed again and again takes its listing away, and nothing was charged', async () => {
  site.pages['/coins/simple/price'] = { body: 'junk' }
  for (let tries = 0; tries < 5; tries += 1) {
    expect(await buy('crypto_price', { coin_id: `duck${tries}` })).toMatchObject({ status: 502, paid: 0n })
  }
  expect(await buy('crypto_price', { coin_id: 'duck' })).toMatchObject({ status: expect.any(Number) })
  expect((await buy('crypto_price', { coin_id: 'goose' })).paid).toBe(0n)
  // A daemon that starts has not seen it fail.
  await market.restart()
})

test('nobody outside is asked before somebody buys', async () => {
  site.clear()
  await market.restart()
  await market.call('GET', '/health')
  await listed()
  expect(site.asked).toEqual([])
})

test('a listing of an earlier version that nobody could buy becomes what this version delivers', async () => {
  const id = await market.serviceId('grant_eligibility_brief')
  await commit(market.daemon.ctx, async (t) => {
    const row = await t.table(services).getForUpdate(id)
    const deliverable_schema = { grant_eligibility_brief: { type: 'string' } }
    if (row) await t.table(services).put({ ...row, deliverable_schema, status: 'inactive' })
  })
  await market.restart()
  const { body } = await market.call('GET', `/v1/services/${id}`)
  expect(body).toMatchObject({ status: 'active', deliverable_schema: { grant_eligibility_brief: { type: 'object' } } })
})
