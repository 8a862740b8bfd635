import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { checkedBy, openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { participants } from '../../kernel/rows.ts'
import { polls, services } from '../listings/rows.ts'
import { deliveries } from './rows.ts'
import { webhookProbes } from './webhook-probes.ts'

const LISTING = { name: 'A listing', description: 'of a test', price: '1.00', fulfillment_type: 'automated' }

let market: Marketplace
let hook: Provider
let ahead = 0
beforeAll(async () => {
  const clock = { now: () => Date.now() + ahead, wall: () => Date.now() }
  market = await openMarketplace({}, { clock })
})
afterAll(() => market.close())
beforeEach(async () => {
  hook = await openProvider()
})
afterEach(() => hook.close())

const ctx = () => market.daemon.ctx
const minute = () => market.admin('POST', '/dashboard/api/admin/crons/webhook-probes/run')
const list = async (owner: Person, more: object = {}): Promise<string> =>
  (await owner.call('POST', '/v1/services', { ...LISTING, ...more })).body.id
/** As the detail shows it, and the catalog, whose pages are kept. */
const shown = async (id: string, owner: Person) => {
  const detail = (await market.call('GET', `/v1/services/${id}`)).body
  const page = (await market.call('GET', `/v1/services/catalog?provider=${owner.id}`)).body
  const found = page.services.find((one: { id: string }) => one.id === id)
  const said = [detail.webhook_status, detail.webhook_healthy]
  expect([found.webhook_status, found.webhook_healthy]).toEqual(said)
  return said
}

test('a listing whose endpoint never answered is not called healthy', async () => {
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const id = await list(owner)
  expect(await shown(id, owner)).toEqual(['not_tried', false])
  expect(hook.received).toEqual([])
  await minute()
  expect(await shown(id, owner)).toEqual(['healthy', true])
  const [message] = hook.received
  if (!message) throw new Error('nothing arrived')
  expect(message.body).toMatchObject({ type: 'test', test: true, service_id: id })
  const secret = (await ctx().store.table(participants).get(owner.id))?.webhook_secret ?? ''
  expect(checkedBy(message, secret)).toEqual({ standard: true, hex: true, previousHex: false })
  const { body } = await owner.call('GET', '/v1/webhooks/deliveries')
  expect(body.deliveries).toMatchObject([{ type: 'test', status: 'delivered', service_id: id }])
  await minute()
  expect(hook.received).toHaveLength(1)
})

test('an endpoint that failed is asked an hour later, not before, and recovers', async () => {
  hook.answer = () => ({ status: 500 })
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const id = await list(owner)
  await minute()
  expect(await shown(id, owner)).toEqual(['failing', false])
  hook.answer = () => ({})
  ahead += HOUR_MS / 2
  await minute()
  expect([hook.received.length, await shown(id, owner)]).toEqual([1, ['failing', false]])
  ahead += HOUR_MS / 2
  await minute()
  expect([hook.received.length, await shown(id, owner)]).toEqual([2, ['healthy', true]])
})

test('a failing listing of a store that knew no probes is asked after the next start', async () => {
  hook.answer = () => ({ status: 500 })
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const id = await list(owner)
  await minute()
  await ctx().store.tx(async (t) => {
    const row = await t.table(services).getForUpdate(id)
    if (!row) throw new Error('no listing')
    const { webhook_status: _, probe_at: __, probing: ___, ...older } = row
    await t.table(services).put(older)
  })
  hook.answer = () => ({})
  ahead += HOUR_MS
  await minute()
  expect(hook.received).toHaveLength(1)
  await market.restart()
  ahead += HOUR_MS
  await minute()
  expect([hook.received.length, await shown(id, owner)]).toEqual([2, ['healthy', true]])
})

test('an endpoint that stays down is asked once an hour, and an inactive listing never', async () => {
  await hook.close()
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const [id, resting] = [await list(owner), await list(owner)]
  await owner.call('PUT', `/v1/services/${resting}`, { status: 'inactive' })
  const tried = async () => (await ctx().store.table(deliveries).page('own', [owner.id], { limit: 10 })).rows
  for (let hour = 0; hour < 3; hour += 1) {
    await minute()
    await minute()
    ahead += HOUR_MS
  }
  expect((await tried()).map(({ service_id }) => service_id)).toEqual([id, id, id])
})

test('a changed endpoint does not inherit what was known of the one before', async () => {
  const other = await openProvider()
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const [shared, own] = [await list(owner), await list(owner, { webhook_url: hook.url })]
  await minute()
  other.answer = () => ({ status: 503 })
  await owner.call('PUT', `/v1/participants/${owner.id}`, { webhook_url: other.url })
  await owner.call('PUT', `/v1/services/${own}`, { webhook_url: `${other.url}/own`, name: 'Renamed' })
  for (const id of [shared, own]) expect(await shown(id, owner)).toEqual(['not_tried', false])
  await minute()
  for (const id of [shared, own]) expect(await shown(id, owner)).toEqual(['failing', false])
  await owner.call('PUT', `/v1/participants/${owner.id}`, { webhook_url: hook.url })
  expect(await shown(shared, owner)).toEqual(['not_tried', false])
  await minute()
  expect(await shown(shared, owner)).toEqual(['healthy', true])
  await other.close()
})

test('an edit of the rest of a listing does not make a failing endpoint healthy', async () => {
  hook.answer = () => ({ status: 500 })
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const id = await list(owner)
  await minute()
  await owner.call('PUT', `/v1/services/${id}`, { name: 'Another name' })
  await owner.call('PUT', `/v1/participants/${owner.id}`, { description: 'Another one' })
  expect(await shown(id, owner)).toEqual(['failing', false])
})

test('a provider that only polls is healthy while it does, and no longer', async () => {
  const owner = await registered(market, { type: 'provider' })
  const id = await list(owner)
  expect(await shown(id, owner)).toEqual(['not_tried', false])
  const poll = () => owner.call('GET', '/v1/events')
  await poll()
  expect(await shown(id, owner)).toEqual(['polling', true])
  const { version } = (await ctx().store.table(polls).get(owner.id)) ?? {}
  await poll()
  expect((await ctx().store.table(polls).get(owner.id))?.version).toBe(version)
  ahead += 1.5 * MINUTE_MS
  await poll()
  ahead += 1.5 * MINUTE_MS
  await minute()
  expect(await shown(id, owner)).toEqual(['polling', true])
  const later = await list(owner)
  expect(await shown(later, owner)).toEqual(['polling', true])
  ahead += MINUTE_MS
  await minute()
  for (const each of [id, later]) expect(await shown(each, owner)).toEqual(['failing', false])
  await poll()
  expect(await shown(id, owner)).toEqual(['polling', true])
})

test('an instant listing without an endpoint is not healthy while its provider polls, however it became one', async () => {
  const owner = await registered(market, { type: 'provider' })
  const born = await list(owner, { fulfillment_type: 'instant' })
  const edited = await list(owner)
  await owner.call('GET', '/v1/events')
  expect(await shown(edited, owner)).toEqual(['polling', true])
  await owner.call('PUT', `/v1/services/${edited}`, { fulfillment_type: 'instant', service_type: 'data_api' })
  const later = await list(owner, { fulfillment_type: 'instant' })
  for (const each of [born, edited, later]) expect(await shown(each, owner)).toEqual(['not_tried', false])
})

test('a buyer that reads its events is nobody to write down', async () => {
  const buyer = await registered(market, { type: 'agent' })
  await buyer.call('GET', '/v1/events')
  expect(await ctx().store.table(polls).get(buyer.id)).toBeUndefined()
})

test('first-party listings are healthy, and never asked', async () => {
  const id = await market.serviceId('qr_code')
  const detail = (await market.call('GET', `/v1/services/${id}`)).body
  expect([detail.webhook_status, detail.webhook_healthy]).toEqual(['healthy', true])
})

test('a listing written before its status was kept shows what is known of it', async () => {
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const id = await list(owner)
  const write = (webhook_healthy: boolean) =>
    ctx().store.tx(async (t) => {
      const row = await t.table(services).getForUpdate(id)
      if (!row) throw new Error('it is gone')
      const { webhook_status: _, probe_at: __, probing: ___, ...before } = row
      await t.table(services).put({ ...before, webhook_healthy })
    })
  await write(true)
  expect(await shown(id, owner)).toEqual(['healthy', true])
  await write(false)
  expect(await shown(id, owner)).toEqual(['failing', false])
  await owner.call('PUT', `/v1/participants/${owner.id}`, { webhook_url: null })
  await write(false)
  expect(await shown(id, owner)).toEqual(['not_tried', false])
})

test('a probe that a crash cut off is not sent again at once', async () => {
  const owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  const id = await list(owner)
  const cut = new AbortController()
  hook.answer = () => {
    cut.abort()
    return Promise.withResolvers<never>().promise
  }
  const now = ctx().clock.now()
  const call = { ctx: ctx(), now, previousRun: now, signal: cut.signal }
  await webhookProbes.run(call)
  hook.answer = () => ({})
  await runOf(webhookProbes, ctx())
  expect(hook.received.filter(({ body }) => body.service_id === id)).toHaveLength(1)
  expect(await shown(id, owner)).toEqual(['not_tried', false])
  ahead += HOUR_MS
  await runOf(webhookProbes, ctx())
  expect(await shown(id, owner)).toEqual(['healthy', true])
})
