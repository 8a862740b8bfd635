import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openProvider, type Provider, type Received } from '../../fixtures/kit/provider.ts'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { INSTANT } from '../../fixtures/scenarios/hooks.ts'
import type { Ask } from '../../fixtures/scenarios/scenario.ts'
import { openStage, type Stage } from '../../fixtures/scenarios/stage.ts'
import { listing, takeOne } from '../../fixtures/scenarios/step.ts'
import { take } from '../../fixtures/scenarios/steps.ts'
import { webhookMessages } from '../../src/api/openapi/webhooks.ts'
import { deliveryWorker } from '../features/webhooks/worker.ts'
import { background } from '../kernel/context.ts'

/** What time brings and a failed payment: their messages have the members of those that are seen here. */
const elsewhere = ['subscription.renewed', 'subscription.past_due', 'subscription.expired', 'job.unpaid']

let market: Marketplace
let stage: Stage
let hook: Provider
const received: Received[] = []
beforeAll(async () => {
  market = await openMarketplace()
  stage = openStage(market)
  hook = await openProvider()
  hook.answer = (message) => {
    received.push(message)
    const result = JSON.stringify({ words: 3 })
    return message.body.service_name === INSTANT ? { body: result } : { status: message.body.test ? 200 : 202 }
  }
  await live()
})
afterAll(async () => {
  await market.close()
  await hook.close()
})

/** Buyer and provider, each with an endpoint, do with each other whatever somebody is told of. */
async function live(): Promise<void> {
  await take(stage, ['the buyer', 'the provider'])
  for (const as of ['buyer', 'provider'] as const) {
    await stage.must('updateParticipant', { as, params: { id: `$${as}` }, body: { webhook_url: hook.url } })
  }
  await take(stage, ['notifications', 'a request', 'a listing', 'an accepted price', 'a message', 'it is delivered'])
  const thread = { id: '$thread' }
  const said: Ask = { as: 'provider', params: thread, body: { message: 'It is there.' } }
  await stage.must('postThreadMessage', said)
  await stage.must('testService', { as: 'provider', params: { id: '$listing' } })
  await take(stage, ['a bid', 'an award', 'it has failed'])
  await take(stage, ['a subscription', 'it is paused'])
  const subscription: Ask = { as: 'buyer', params: { id: '$subscription' } }
  await stage.must('resumeSubscription', subscription)
  await stage.must('cancelSubscription', { ...subscription, body: { at_period_end: false } })
  await takeOne(stage, listing({ name: INSTANT, fulfillment_type: 'instant' }))
  await take(stage, ['a job of it'])
  const { ctx } = market.daemon
  while (background.of(ctx).size > 0) await Promise.all(background.of(ctx))
  deliveryWorker.of(ctx).wake()
  await deliveryWorker.of(ctx).idle()
}

test('every kind of message was sent, or is known to come elsewhere', () => {
  const seen = new Set(received.map(({ body }) => body.type))
  const declared = webhookMessages.map(([type]) => type)
  expect([...seen].filter((type) => !declared.includes(type))).toEqual([])
  expect(declared.filter((type) => !seen.has(type)).toSorted()).toEqual(elsewhere.toSorted())
})

test('each is as the description says, its headers too', async () => {
  const { body } = await market.call('GET', '/openapi.json')
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(body, 'souk')
  for (const message of received) {
    const { post } = body.webhooks[message.body.type]
    const validate = ajv.compile({ $ref: `souk#${post.requestBody.content['application/json'].schema.$ref.slice(1)}` })
    expect([message.body.type, validate(message.body), validate.errors]).toEqual([message.body.type, true, null])
    for (const { name } of post.parameters) expect(message.headers).toHaveProperty(name.toLowerCase())
  }
  expect(received.length).toBeGreaterThan(10)
})
