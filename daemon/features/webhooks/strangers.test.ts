import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Received } from '../../../fixtures/kit/provider.ts'
import { type Escrow, openEscrow, priced } from '../../../fixtures/market/escrow.ts'
import { openTalk } from '../../../fixtures/market/negotiation.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { MAX_PENDING_PER_SENDER } from './queue.ts'
import { deliveryWorker } from './worker.ts'

const MORE = 20

let market: Escrow
let neighbour: Person
beforeAll(async () => {
  market = await openEscrow()
  neighbour = await registered(market.market, { type: 'provider', webhook_url: market.hook.url })
})
afterAll(() => market.close())

async function arrived(wanted: (message: Received) => boolean): Promise<void> {
  while (!market.hook.received.some(wanted)) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('a stranger who floods an endpoint neither delays nor kills a dispatch to it, nor one of who shares it', async () => {
  const talk = await openTalk(market)
  await arrived(({ body }) => body.type === 'thread_inquiry')
  const held = Promise.withResolvers<void>()
  market.hook.answer = async ({ body }) => {
    if (body.type === 'new_message') await held.promise
    return {}
  }
  const statuses = new Set<number>()
  for (let n = 0; n < MAX_PENDING_PER_SENDER + MORE; n += 1) {
    statuses.add((await talk.agent.call('POST', talk.at('messages'), { message: `word ${n}` })).status)
  }
  expect([...statuses]).toEqual([200])
  await arrived(({ body }) => body.type === 'new_message')

  const buyer = await market.agent({ balance: '5.00' })
  const theirs = await neighbour.call('POST', '/v1/services', { ...priced, fulfillment_type: 'automated' })
  const own = await market.list('automated')
  const [first, second] = [
    (await market.buy(own, buyer)).body.job_id,
    (await market.buy(theirs.body.id, buyer)).body.job_id,
  ]
  await arrived(({ body }) => body.type === 'job_dispatch' && body.job_id === second)
  const before = market.hook.received.filter(({ body }) => body.type === 'new_message').length
  held.resolve()
  await deliveryWorker.of(market.ctx()).idle()
  const types = market.hook.received.map(({ body }) => (body.job_id === first ? 'the dispatch' : body.type))
  const ahead = types.slice(0, types.indexOf('the dispatch')).filter((type) => type === 'new_message')
  expect(ahead).toHaveLength(before)

  const listed = await market.provider.call('GET', '/v1/webhooks/deliveries?status=dead&limit=100')
  const dead = listed.body.deliveries.map(({ type, reason }: Record<string, string>) => `${type}: ${reason}`)
  expect(dead).toEqual(new Array(MORE).fill('new_message: too many messages of this sender wait'))
  const delivered = await market.provider.call('GET', '/v1/webhooks/deliveries?status=delivered&limit=1')
  expect(delivered.body.total).toBe(MAX_PENDING_PER_SENDER + 2)
})
