import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostileChain } from '../../fixtures/hostile/chain.ts'
import { openLoop } from '../../fixtures/kit/loop.ts'
import { type Escrow, openEscrow } from '../../fixtures/market/escrow.ts'
import { openSite, type Site } from '../ports/web/site.testkit.ts'

// @slow certificates that take long to verify

/* A stranger's certificates, which take long to verify, hold up nobody else of the market. */

let market: Escrow
let site: Site
beforeAll(async () => {
  site = await openSite({}, hostileChain())
  const toLoopback = async () => [{ address: '127.0.0.1', family: 4 as const }]
  market = await openEscrow(
    { web: { resolve: toLoopback, exempt: ({ port }) => port === site.port } },
    { crons: false },
  )
})
afterAll(async () => {
  await market.close()
  await site.close()
})

const bought = async (service: string, body: object) => {
  const buyer = await market.agent({ balance: '1.00' })
  return () => market.buy(service, buyer, { from: 'balance', body })
}
const endpoint = () => ({ webhook_url: site.at('/') })

test.each<[string, () => Promise<() => Promise<{ readonly status: number; readonly text: string }>>]>([
  ['a page', async () => bought(await market.market.serviceId('link_preview'), { url: site.at('/') })],
  ['an instant sale', async () => bought(await market.list('instant', endpoint()), {})],
  [
    'a webhook',
    async () => {
      const service = await market.list('automated', endpoint())
      return () => market.provider.call('POST', `/v1/services/${service}/test`)
    },
  ],
])('%s of a hostile host holds up nobody, and fails for its certificate', async (_, prepared) => {
  const ask = await prepared()
  await ask() // the thread has started
  const loop = openLoop()
  let text = ''
  const turn = await loop.longestTurn(async () => {
    text = (await ask()).text
  })
  expect(text).toMatch(/certificate|TLS/)
  expect(turn).toBeLessThan(loop.limitMs)
})
