import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { type NamedService, namedSlugs } from '../../../src/model/service.ts'

// @slow every service by its name, in a market of its own

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
beforeEach(() => Promise.all(namedSlugs.map((slug) => set(slug, { enabled: false }))))
afterAll(() => market.close())

const setFeatures = (body: unknown) => market.admin('PUT', '/dashboard/api/admin/features', { body })
const set = (slug: string, body: unknown) =>
  market.admin('PUT', `/dashboard/api/admin/named-services/${slug}`, { body })
const listed = async (price: string) => {
  const body = { name: 'Audit', description: 'looks at a site', price, fulfillment_type: 'human' }
  return (await carl.call('POST', '/v1/services', body)).body.id as string
}
const planned = async (price: string, billing_period = 'monthly') => {
  const body = { name: 'Care', price, billing_period, service_ids: [await listed('1.00')] }
  return (await carl.call('POST', '/v1/plans', body)).body.id as string
}

/** Whether health, the description and the door say that the path sells. */
async function isThere(slug: NamedService): Promise<boolean> {
  const path = `/v1/services/${slug}`
  const [door, health, description] = await Promise.all([
    market.call('POST', path),
    market.call('GET', '/health'),
    market.call('GET', '/openapi.json'),
  ])
  const said = [
    door.status === 402,
    health.body.endpoints.some((row: { path: string }) => row.path === path),
    path in description.body.paths,
  ]
  expect(new Set(said).size, JSON.stringify([slug, said])).toBe(1)
  return said[0] as boolean
}

describe('a named service', () => {
  test('is a 404 until it is configured; then it sells the listing behind it', async () => {
    const path = '/v1/services/content-write'
    expect(await isThere('content-write')).toBe(false)
    const id = await listed('40.00')
    expect((await set('content-write', { listing: id })).body).toMatchObject({
      enabled: true,
      service_id: id,
      plan_id: null,
      price: '42.00',
      advertised: { min: '25.00', max: '100.00' },
      changed: true,
    })
    expect(await isThere('content-write')).toBe(true)
    const offer = await market.call('POST', path)
    expect([offer.status, offer.body.accepts[0].maxAmountRequired]).toEqual([402, '42000000'])
    expect(offer.body.accepts[0].resource).toBe(`${market.url()}${path}`)
    const bought = await ann.pay(path, { body: {} })
    expect([bought.status, bought.body.status]).toEqual([200, 'dispatched'])
    expect((await ann.call('GET', `/v1/jobs/${bought.body.job_id}`)).body.service_id).toBe(id)
  })

  test('never stands in health or the description while its door is shut, whatever its listing does', async () => {
    const id = await listed('40.00')
    await set('content-write', { listing: id })
    await set('seo-optimize', { listing: id })
    expect([await isThere('content-write'), await isThere('seo-optimize')]).toEqual([true, true])
    await carl.call('PUT', `/v1/services/${id}`, { status: 'inactive' })
    expect([await isThere('content-write'), await isThere('seo-optimize')]).toEqual([false, false])
    await carl.call('PUT', `/v1/services/${id}`, { status: 'active' })
    expect(await isThere('content-write')).toBe(true)
    await carl.call('DELETE', `/v1/services/${id}`)
    expect([await isThere('content-write'), await isThere('seo-optimize')]).toEqual([false, false])
  })

  test('that is off is a 404 for every method, and a 405 for the wrong one once it is on', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'POST', 'OPTIONS'])
      expect([method, (await market.call(method, '/v1/services/content-write')).status]).toEqual([method, 404])
    await set('content-write', { listing: await listed('40.00') })
    // The checker of answers takes the path for that of a listing.
    expect((await fetch(`${market.url()}/v1/services/content-write`, { method: 'PUT' })).status).toBe(405)
  })

  test('cannot be switched on with nothing behind it', async () => {
    const { status, body } = await setFeatures({ features: { 'site-audit': true } })
    expect([status, body.details[0].path]).toEqual([400, 'features.site-audit'])
    expect(await isThere('site-audit')).toBe(false)
    const id = await listed('4.762')
    const both = { features: { 'site-audit': true }, named_services: { 'site-audit': id } }
    expect((await setFeatures(both)).status).toBe(200)
    expect(await isThere('site-audit')).toBe(true)
  })

  test.each([
    ['4.00', /\$5/],
    ['6.00', /\$5/],
  ])('priced at %s is not what is advertised, and nothing changes', async (price, message) => {
    const id = await listed(price)
    const { status, body } = await set('site-audit', { listing: id })
    expect([status, body.details[0].path]).toEqual([400, 'named_services.site-audit'])
    expect(body.message).toMatch(message)
    expect((await setFeatures({ named_services: { 'site-audit': id } })).status).toBe(400)
    expect((await setFeatures({})).body.named_services).toEqual({})
  })

  test.each([
    {},
    { listing: 'svc_0000000000000000', enabled: false },
    { listing: 'svc_0000000000000000' },
    { plan: 'plan_0000000000000000' },
    { from: 'moonshot', price: '5.00' },
    { from: 'link_preview' },
    { price: '5.00', enabled: false },
    { enabled: true },
    { service: 'x' },
  ])('is not configured by %j', async (body) => {
    expect((await set('site-audit', body)).status).toBe(400)
    expect(await isThere('site-audit')).toBe(false)
  })

  test('has one of the advertised names', async () => {
    expect((await set('moon-landing', { enabled: false })).status).toBe(404)
    expect((await setFeatures({ named_services: { 'moon-landing': null } })).status).toBe(400)
  })

  test('of the house sells what is really run, at its own price, and is one listing however often it is set', async () => {
    const { body } = await set('site-audit', { from: 'qr_code', price: '5.00' })
    const bought = await ann.pay('/v1/services/site-audit', { body: { data: 'x' } })
    expect([bought.status, bought.body.status, bought.body.amount]).toEqual([200, 'completed', '5.00'])
    const { body: listing } = await market.call('GET', `/v1/services/${body.service_id}`)
    expect(listing).toMatchObject({ name: 'Site audit', first_party: true, agent_price: { fixed: '$5.00' } })
    await set('site-audit', { enabled: false })
    expect((await set('site-audit', { from: 'qr_code', price: '5.00' })).body.service_id).toBe(body.service_id)
    expect((await set('site-audit', { from: 'qr_code', price: '5.001' })).status).toBe(400)
    expect(await isThere('site-audit')).toBe(true)
  })

  test('of maintenance subscribes to a monthly plan, and to nothing else', async () => {
    for (const body of [{ listing: await listed('50.00') }, { from: 'qr_code', price: '50.00' }])
      expect((await set('maintenance-plan', body)).status).toBe(400)
    expect((await set('maintenance-plan', { plan: await planned('60.00', 'annual') })).status).toBe(400)
    expect((await set('maintenance-plan', { plan: await planned('40.00') })).status).toBe(400)
    const plan = await planned('60.00')
    expect((await set('maintenance-plan', { plan })).body).toMatchObject({ plan_id: plan, price: '63.00' })
    const bought = await ann.pay('/v1/services/maintenance-plan')
    expect([bought.status, bought.body.status, bought.body.plan_id]).toEqual([200, 'active', plan])
    expect((await ann.call('GET', '/v1/subscriptions')).body.subscriptions).toMatchObject([{ plan_id: plan }])
    await setFeatures({ checkout_v2: true })
    const shelved = await market.call('POST', '/v1/services/maintenance-plan')
    expect([shelved.status, shelved.body]).toMatchObject([410, { code: 'deferred', feature: 'subscriptions' }])
    const { endpoints } = (await market.call('GET', '/health')).body
    const path = '/v1/services/maintenance-plan'
    expect(endpoints.find((row: { path: string }) => row.path === path)).toMatchObject({ status: 'deferred' })
    expect(path in (await market.call('GET', '/openapi.json')).body.paths).toBe(false)
    await setFeatures({ checkout_v2: false })
    expect(await isThere('maintenance-plan')).toBe(true)
    await carl.call('DELETE', `/v1/plans/${plan}`)
    expect(await isThere('maintenance-plan')).toBe(false)
  })
})
