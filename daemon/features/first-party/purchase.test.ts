import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { installation } from '../../kernel/identity.ts'
import { openSite, type Site } from '../../ports/web/site.testkit.ts'

let market: Marketplace
let site: Site
beforeAll(async () => {
  site = await openSite({ '/page': { body: '<title>Ducks</title><p>They swim.</p>' } })
  market = await openMarketplace(
    {},
    { web: { resolve: async () => [{ address: '127.0.0.1', family: 4 }], exempt: ({ port }) => port === site.port } },
  )
})
afterAll(async () => {
  await market.close()
  await site.close()
})

async function buy(slug: string, input: object) {
  const buyer = await market.buyer('1.00')
  const response = await buyer.fetch(1)(`${market.url()}/v1/services/${await market.serviceId(slug)}/purchase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  })
  const left = await market.daemon.ctx.chain.balanceOf(buyer.wallet)
  return { status: response.status, body: await response.json(), paid: 1_000_000n - left }
}

test('a page is read over the daemon’s own web, and paid for', async () => {
  const bought = await buy('link_preview', { url: site.at('/page') })
  expect(bought).toMatchObject({ status: 200, paid: 5_000n, body: { result: { title: 'Ducks' } } })
})

test('a page that may not be read costs nothing and says why', async () => {
  for (const url of [
    'http://169.254.169.254/',
    `http://127.0.0.1:${installation.of(market.daemon.ctx).port()}/health`,
    'http://[::1]/',
  ]) {
    const refused = await buy('url_evidence_snapshot', { url })
    expect(refused).toMatchObject({
      status: 400,
      paid: 0n,
      body: { code: 'input_invalid', details: [{ path: 'url' }] },
    })
  }
  const missing = await buy('summarization', { url: site.at('/missing') })
  expect(missing).toMatchObject({
    status: 400,
    paid: 0n,
    body: { details: [{ path: 'url', message: 'answered 404' }] },
  })
})

test('a text is judged without the web', async () => {
  const bought = await buy('sentiment_analysis', { text: 'I love it, it is wonderful.' })
  expect(bought).toMatchObject({ status: 200, paid: 20_000n, body: { result: { sentiment: 'positive' } } })
})
