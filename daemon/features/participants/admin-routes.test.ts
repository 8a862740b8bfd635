import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'

const path = '/dashboard/api/admin/participants'
const listing = { name: 'Echo', description: 'says it again', price: '1.00', fulfillment_type: 'automated' }

let market: Marketplace
let ann: Person
let carl: Person
beforeAll(async () => {
  market = await openMarketplace()
  ann = await registered(market, { type: 'agent', name: 'Ann' })
  carl = await registered(market, { type: 'provider', name: 'Carl', webhook_url: 'http://127.0.0.1:9/hook' })
})
afterAll(() => market.close())

const set = (person: Person, body: unknown) => market.admin('PUT', `${path}/${person.id}`, { body })
const list = async (query: string) => (await market.admin('GET', `${path}?${query}`)).body

describe('participants, as the administrator sees them', () => {
  test('come with private fields, by type and tier, and never with a key or a secret', async () => {
    await ann.pay('/v1/balance/deposit?amount=2.50')
    const { participants, total } = await list('type=agent')
    expect(total).toBe(1)
    expect(participants[0]).toMatchObject({ participant_id: ann.id, balance: { available: '2.50', held: '0.00' } })
    const providers = await market.admin('GET', `${path}?type=provider&limit=1`)
    expect(providers.body.participants[0]).toMatchObject({ webhook_url: 'http://127.0.0.1:9/hook', suspended_at: null })
    expect(providers.text).not.toMatch(/key_hash|whsec_|sk_/)
  })

  test('get a tier, which shows in their profile and in the log', async () => {
    expect((await set(ann, { verification_tier: 'email_verified', reason: 'wrote back' })).status).toBe(200)
    const profile = await market.call('GET', `/v1/participants/${ann.id}`)
    expect(profile.body.verification_tier).toBe('email_verified')
    expect((await list('tier=email_verified')).participants.map((one: { id: string }) => one.id)).toContain(ann.id)
    const { body } = await market.admin('GET', '/dashboard/api/admin/log')
    expect(JSON.stringify(body)).toContain('wrote back')
  })

  test.each([
    [{ reason: 'no change named' }, 400],
    [{ suspended: true }, 400],
    [{ suspended: true, reason: ' ' }, 400],
    [{ verification_tier: 'saint', reason: 'x' }, 400],
  ])('%o is a %i', async (body, status) => {
    expect((await set(ann, body)).status).toBe(status)
  })

  test('an unknown one is a 404', async () => {
    const body = { suspended: true, reason: 'x' }
    expect((await market.admin('PUT', `${path}/p_0000000000000000`, { body })).status).toBe(404)
  })
})

describe('a suspended participant', () => {
  test('reads, but writes and pays nothing, and its listings are down; all is as before afterwards', async () => {
    const listed = await carl.call('POST', '/v1/services', listing)
    expect(listed.status).toBe(200)
    const suspended = await set(carl, { suspended: true, reason: 'fraud report' })
    expect(suspended.body.suspended_at).toEqual(expect.any(String))

    expect((await carl.call('GET', '/v1/jobs')).status).toBe(200)
    const refused = await carl.call('PUT', `/v1/services/${listed.body.id}`, { name: 'Other' })
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    const balance = await carl.pay('/v1/balance/deposit?amount=1.00')
    expect([balance.status, balance.body.code]).toEqual([403, 'forbidden'])
    const sale = await ann.pay(`/v1/services/${listed.body.id}/purchase`, { body: {} })
    expect(sale.status).toBe(404)

    await set(carl, { suspended: false, reason: 'cleared' })
    expect((await carl.call('PUT', `/v1/services/${listed.body.id}`, { status: 'active' })).status).toBe(200)
    expect((await carl.pay('/v1/balance/deposit?amount=1.00')).status).toBe(200)
  })
})
