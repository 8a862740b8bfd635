import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { checkedBy, openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { installation } from '../../kernel/identity.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { enqueue } from './queue.ts'
import { deliveries } from './rows.ts'
import { deliveryWorker } from './worker.ts'

const LISTING = { name: 'A listing', description: 'of a test', price: '1.00', fulfillment_type: 'automated' }

let market: Marketplace
let hook: Provider
let owner: Person
let other: Person
let service: string

beforeAll(async () => {
  market = await openMarketplace()
  hook = await openProvider()
  owner = await registered(market, { type: 'provider', webhook_url: hook.url })
  other = await registered(market, { type: 'both' })
  service = (await owner.call('POST', '/v1/services', LISTING)).body.id
})
afterAll(async () => {
  await market.close()
  await hook.close()
})
beforeEach(() => {
  hook.received.length = 0
  hook.answer = () => ({ body: 'taken' })
})

const secret = async () => (await market.daemon.ctx.store.table(participants).get(owner.id))?.webhook_secret ?? ''
const attempt = () => owner.call('POST', `/v1/services/${service}/test`)
const send = async (type = 'new_message') => {
  const { ctx } = market.daemon
  const now = ctx.clock.now()
  const news = { participantId: owner.id, serviceId: service, type, data: { text: 'hello' }, now }
  const row = await commit(ctx, (t, draw) => enqueue(t, draw, news))
  await deliveryWorker.of(ctx).idle()
  return row?.id ?? ''
}

describe('the test of a listing', () => {
  it('sends a signed message and shows what came back', async () => {
    hook.answer = () => ({ status: 202, body: 'x'.repeat(600) })
    const answer = await attempt()
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        delivered: true,
        status: 202,
        latency_ms: expect.any(Number),
        response_excerpt: 'x'.repeat(512),
        signature_headers: expect.objectContaining({ 'webhook-id': hook.received[0]?.body.event_id }),
      },
    ])
    const [message] = hook.received
    if (!message) throw new Error('nothing arrived')
    expect(message.body).toMatchObject({ test: true, service_id: service, type: 'test' })
    expect(checkedBy(message, await secret())).toEqual({ standard: true, hex: true, previousHex: false })
    for (const [name, value] of Object.entries(answer.body.signature_headers)) expect(message.headers[name]).toBe(value)
    expect(answer.text).not.toContain(await secret())
  })

  it('tells what went wrong, marks the listing, and a good one heals it', async () => {
    hook.answer = () => ({ status: 500, body: 'broken' })
    const failed = await attempt()
    expect(failed.body).toMatchObject({
      delivered: false,
      status: 500,
      response_excerpt: 'broken',
      error: 'the endpoint returned status 500',
    })
    const healthy = async () => (await market.call('GET', `/v1/services/${service}`)).body.webhook_healthy
    expect(await healthy()).toBe(false)
    hook.answer = () => ({})
    for (let n = 0; n < 5; n += 1) await attempt()
    expect(await healthy()).toBe(true)
  })

  it('never reaches the marketplace itself, nor a private address', async () => {
    for (const [url, failure] of [
      [`http://127.0.0.1:${installation.of(market.daemon.ctx).port()}/v1/services/catalog`, 'port_refused'],
      ['https://10.0.0.1/', 'address_refused'],
      ['https://169.254.169.254/latest', 'address_refused'],
    ]) {
      await owner.call('PUT', `/v1/services/${service}`, { webhook_url: url })
      expect((await attempt()).body).toMatchObject({
        delivered: false,
        status: null,
        error: expect.stringContaining(failure ?? ''),
      })
    }
    await owner.call('PUT', `/v1/services/${service}`, { webhook_url: null })
  })

  it('says so where there is no endpoint', async () => {
    const bare = (await other.call('POST', '/v1/services', LISTING)).body.id
    const answer = await other.call('POST', `/v1/services/${bare}/test`)
    expect(answer.body).toMatchObject({ delivered: false, status: null, error: expect.stringContaining('webhook_url') })
  })

  it('is for its owner only', async () => {
    expect((await other.call('POST', `/v1/services/${service}/test`)).status).toBe(403)
    expect((await owner.call('POST', '/v1/services/svc_0000000000000000/test')).status).toBe(404)
    const agent = await registered(market, { type: 'agent' })
    expect((await agent.call('POST', `/v1/services/${service}/test`)).status).toBe(403)
    expect(hook.received).toEqual([])
  })
})

describe('the deliveries of a provider', () => {
  it('are listed with every attempt, newest first, and by status', async () => {
    const id = await send('first')
    hook.answer = () => ({ status: 503, headers: { 'retry-after': '3600' }, body: 'later' })
    const late = await send('second')
    const { body } = await owner.call('GET', '/v1/webhooks/deliveries?limit=2')
    expect([body.limit, body.offset, body.deliveries.length]).toEqual([2, 0, 2])
    expect(body.deliveries[0]).toMatchObject({
      id: late,
      delivery_id: late,
      type: 'second',
      status: 'pending',
      reason: null,
      participant_id: owner.id,
      service_id: service,
      job_id: null,
      url: hook.url,
      ended_at: null,
      attempts: [{ status: 503, error: 'the endpoint returned status 503', response_excerpt: 'later' }],
    })
    expect(Date.parse(body.deliveries[0].next_attempt_at)).toBeGreaterThan(Date.parse(body.deliveries[0].created_at))
    expect(body.deliveries[1]).toMatchObject({ id, status: 'delivered', next_attempt_at: null })
    const pending = await owner.call('GET', '/v1/webhooks/deliveries?status=pending')
    expect([pending.body.total, pending.body.deliveries[0].id]).toEqual([1, late])
    expect((await owner.call('GET', '/v1/webhooks/deliveries?status=lost')).status).toBe(400)
    expect(
      (await other.call('GET', '/v1/webhooks/deliveries')).body.deliveries.map((row: { type: string }) => row.type),
    ).toEqual([])
  })

  it('are sent again on demand, with the same id and bytes', async () => {
    const id = await send()
    const again = await owner.call('POST', `/v1/webhooks/deliveries/${id}/replay`)
    expect([again.status, again.body.id, again.body.status]).toEqual([200, id, 'pending'])
    await deliveryWorker.of(market.daemon.ctx).idle()
    const [first, second] = hook.received
    expect([second?.raw, second?.headers['webhook-id']]).toEqual([first?.raw, first?.headers['webhook-id']])
    expect((await other.call('POST', `/v1/webhooks/deliveries/${id}/replay`)).status).toBe(404)
  })
})

test('the administrator sees all deliveries, of everybody or of one', async () => {
  const id = await send()
  const all = await market.admin('GET', '/dashboard/api/admin/webhooks?limit=1')
  expect([all.status, all.body.deliveries[0].id]).toEqual([200, id])
  expect(all.body.total).toBe(Object.values<number>(all.body.counts).reduce((sum, count) => sum + count, 0))
  const one = await market.admin('GET', `/dashboard/api/admin/webhooks?participant=${other.id}`)
  expect(one.body.total).toBe(0)
  const dead = await market.admin('GET', `/dashboard/api/admin/webhooks?participant=${owner.id}&status=dead`)
  expect(dead.body.total).toBe(all.body.counts.dead)
  expect(all.text).not.toContain(await secret())
})

test('a rotated secret signs beside the new one', async () => {
  const before = await secret()
  const rotated = await owner.call('PUT', `/v1/participants/${owner.id}`, { rotate_webhook_secret: true })
  await attempt()
  const [message] = hook.received
  if (!message) throw new Error('nothing arrived')
  expect(checkedBy(message, before)).toEqual({ standard: true, hex: false, previousHex: true })
  expect(checkedBy(message, rotated.body.webhook_secret)).toEqual({ standard: true, hex: true, previousHex: false })
})

test('deliveries are kept for thirty days after their end', async () => {
  const { store } = market.daemon.ctx
  const worker = deliveryWorker.of(market.daemon.ctx)
  const id = await send()
  const keep = async (days: number) => {
    await market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: days * DAY_MS } })
    worker.wake()
    await worker.idle()
    await market.admin('POST', '/dashboard/api/admin/crons/housekeeping/run')
    return (await store.table(deliveries).get(id)) !== undefined
  }
  expect(await keep(29)).toBe(true)
  expect(await keep(2)).toBe(false)
})
