import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { registered, stranger } from '../../../fixtures/market/people.ts'

import { toWallet } from '../../../src/core/hex.ts'

/* A marketplace that other machines can reach sends nothing to its own machine: it says so when an endpoint is written. */

const HERE = 'http://127.0.0.1:9/hook'
const ELSEWHERE = 'https://example.org/hook'
let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace({ publicUrl: 'https://souk.example' })
})
afterAll(() => market.close())

const listing = { name: 'Echo', description: 'x', price: '0.50', fulfillment_type: 'automated' }
const refused = {
  status: 400,
  body: { details: [{ path: expect.stringMatching(/webhook_url$/), message: expect.stringContaining('--tls') }] },
}

test('an endpoint on this machine is refused wherever it can be written, before anything is paid', async () => {
  const provider = await registered(market, { type: 'provider' })
  const profile = `/v1/participants/${provider.id}`
  expect(await provider.call('PUT', profile, { webhook_url: HERE })).toMatchObject(refused)
  expect(await provider.call('POST', '/v1/services', { ...listing, webhook_url: HERE })).toMatchObject(refused)
  const made = await provider.call('POST', '/v1/services', { ...listing, webhook_url: ELSEWHERE })
  expect(made.status).toBe(200)
  const edited = await provider.call('PUT', `/v1/services/${made.body.id}`, { webhook_url: 'http://localhost:9/' })
  expect(edited).toMatchObject(refused)

  const newcomer = await stranger(market)
  const before = await market.daemon.ctx.chain.balanceOf(toWallet(newcomer.account.address))
  const body = { name: 'a shop', type: 'provider', webhook_url: HERE }
  expect(await newcomer.pay('/v1/register', { body })).toMatchObject(refused)
  const services = [{ ...listing, webhook_url: HERE }]
  expect(await newcomer.pay('/v1/provider/onboard', { body: { name: 'a shop', services } })).toMatchObject(refused)
  const after = await market.daemon.ctx.chain.balanceOf(toWallet(newcomer.account.address))
  expect(after).toBe(before)
})
