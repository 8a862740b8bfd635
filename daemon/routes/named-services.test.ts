import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/marketplace.ts'
import { type Person, registered } from '../../fixtures/people.ts'

let market: Marketplace
let carl: Person
let ann: Person
beforeAll(async () => {
  market = await openMarketplace()
  carl = await registered(market, { type: 'provider', name: 'Carl' })
  ann = await registered(market, { type: 'agent', name: 'Ann' })
  const fund = { wallet: ann.account.address, amount: '500.00' }
  await market.admin('POST', '/dashboard/api/admin/faucet', { body: fund })
})
afterAll(() => market.close())

const set = (body: unknown) => market.admin('PUT', '/dashboard/api/admin/features', { body })
const listed = async (price: string) => {
  const body = { name: 'Audit', description: 'looks at a site', price, fulfillment_type: 'human' }
  return (await carl.call('POST', '/v1/services', body)).body.id as string
}

describe('a named service', () => {
  test('is a 404 until it is enabled and configured; then it sells the listing behind it', async () => {
    const path = '/v1/services/content-write'
    expect((await market.call('POST', path)).status).toBe(404)
    await set({ features: { 'content-write': true } })
    expect((await market.call('POST', path)).status).toBe(404)
    const id = await listed('40.00')
    expect((await set({ named_services: { 'content-write': id } })).body.named_services).toEqual({
      'content-write': id,
    })

    const offer = await market.call('POST', path)
    expect([offer.status, offer.body.accepts[0].maxAmountRequired]).toEqual([402, '42000000'])
    expect(offer.body.accepts[0].resource).toBe(`${market.url()}${path}`)
    const bought = await ann.pay(path, { body: {} })
    expect([bought.status, bought.body.status]).toEqual([200, 'dispatched'])
    expect((await ann.call('GET', `/v1/jobs/${bought.body.job_id}`)).body.service_id).toBe(id)
    const { endpoints } = (await market.call('GET', '/health')).body
    expect(endpoints.filter((row: { path: string }) => row.path === path)).toHaveLength(1)

    expect((await carl.call('PUT', `/v1/services/${id}`, { price: '400.00' })).status).toBe(200)
    expect((await market.call('POST', path)).status).toBe(404)
    await set({ named_services: { 'content-write': null } })
    expect((await set({})).body.named_services).toEqual({})
  })

  test.each([
    ['4.00', /\$5/],
    ['6.00', /\$5/],
  ])('priced at %s is not what is advertised, and nothing changes', async (price, message) => {
    const { status, body } = await set({ named_services: { 'site-audit': await listed(price) } })
    expect([status, body.details[0].path]).toEqual([400, 'named_services.site-audit'])
    expect(body.message).toMatch(message)
    expect((await set({})).body.named_services).toEqual({})
  })

  test('has to be a listing', async () => {
    const { status } = await set({ named_services: { 'site-audit': 'svc_0000000000000000' } })
    expect(status).toBe(400)
    expect((await set({ named_services: { 'moon-landing': null } })).status).toBe(400)
  })
})
