import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEscrow } from '../../fixtures/market/escrow.ts'
import { type Buyer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../fixtures/market/people.ts'
import type { JsonObject } from '../../src/model/service.ts'
import { services } from '../features/listings/rows.ts'
import { payments } from '../features/payments/rows.ts'
import { openAudio } from '../ports/audio/audio.ts'
import { openSpeech } from '../ports/speech/speech.ts'
import { openSite } from '../ports/web/site.testkit.ts'
import { commit } from '../store/draw.ts'
import { engineBoard } from './engines.ts'

// @slow pictures and documents that are made to take long

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

/** Nearly the most subschemas that a schema may have: compiling it takes tenths of a second. */
const hostileSchema = (seed: number) => ({
  type: 'object',
  properties: { a: { items: { anyOf: Array.from({ length: 490 }, (_, i) => ({ const: `${seed}-${i}` })) } } },
})
const listing = (seed: number) => ({
  name: `Hostile ${seed}`,
  description: 'x',
  price: '0.50',
  fulfillment_type: 'human',
  input_schema: hostileSchema(seed),
})

test('while hostile schemas are compiled and applied, everybody else is answered', async () => {
  const mallory = await registered(market, { type: 'provider', name: 'Mallory' })
  let done = 0
  const creating = Array.from({ length: 6 }, async (_, i) => {
    const { status, body } = await mallory.call('POST', '/v1/services', listing(i))
    done += 1
    return [status, body.service_id]
  })
  for (let i = 0; i < 5; i += 1) expect((await market.call('GET', '/health')).status).toBe(200)
  expect(done).toBe(0)
  const made = await Promise.all(creating)
  expect(made.map(([status]) => status)).toEqual(made.map(() => 200))
})

async function buyText(place: Marketplace, text: string, slug = 'summarization') {
  return buyTextAs(await place.buyer('1.00'), place, { text, slug })
}

type Order = { readonly text: string; readonly slug: string }

async function buyTextAs(buyer: Buyer, place: Marketplace, { text, slug }: Order) {
  const response = await buyer.fetch(1)(`${place.url()}/v1/services/${await place.serviceId(slug)}/purchase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ text }),
  })
  const left = await place.daemon.ctx.chain.balanceOf(buyer.wallet)
  return { status: response.status, body: await response.json(), paid: 1_000_000n - left }
}

const largest = '你好世界吗。'.repeat(8_000)

test('the largest text is shortened and paid for', async () => {
  expect(await buyText(market, largest)).toMatchObject({ status: 200, paid: 50_000n })
})

test('work that takes more time than a task may costs nothing, and the daemon goes on', async () => {
  const speech = openSpeech({ audio: openAudio({ path: '/nowhere' }).port, path: '/nowhere' })
  const tight = await openMarketplace({}, { threads: { services: { deadlineMs: 1 } }, engines: { speech } })
  try {
    expect(await buyText(tight, largest)).toMatchObject({
      status: 502,
      paid: 0n,
      body: { code: 'provider_failed', message: 'summarization did not finish in time.' },
    })
    await engineBoard.of(tight.daemon.ctx).ready
    // The tables of languages are large: they are read on a thread, and so is the text.
    expect(await buyText(tight, 'Guten Morgen', 'text_to_speech')).toMatchObject({
      status: 502,
      paid: 0n,
      body: { message: 'text_to_speech did not finish in time.' },
    })
    expect((await tight.call('GET', '/health')).status).toBe(200)
    expect(await buyText(tight, 'The market opened. Prices of bread fell again today.')).toMatchObject({ status: 200 })
  } finally {
    await tight.close()
  }
})

test('who lets work fail again and again has no more of it for a while, and others have theirs', async () => {
  const tight = await openMarketplace({}, { threads: { services: { deadlineMs: 20 }, unpaidMs: 50 } })
  try {
    const mallory = await tight.buyer('1.00')
    const failing = () => buyTextAs(mallory, tight, { text: largest, slug: 'summarization' })
    const first = await failing()
    expect(first).toMatchObject({ status: 502, paid: 0n })
    let last = first
    for (let tries = 0; last.status === 502 && tries < 5; tries += 1) last = await failing()
    expect(last).toMatchObject({ status: 503, paid: 0n, body: { code: 'unavailable' } })
    expect(last.body).toMatchObject({ message: expect.stringMatching(/^Your recent orders failed/) })
    expect(await buyText(tight, largest)).toMatchObject({ status: 502 })
  } finally {
    await tight.close()
  }
})

test('delivered work whose payment goes back counts as unpaid time of its buyer', async () => {
  const site = await openSite({ '/': { body: '<!doctype html><title>Ducks</title><h1>Ducks</h1><p>They swim.</p>' } })
  const toLoopback = async () => [{ address: '127.0.0.1', family: 4 as const }]
  const tight = await openEscrow({ web: { resolve: toLoopback, exempt: () => true }, threads: { unpaidMs: 1 } })
  try {
    const service = await tight.market.serviceId('seo_audit')
    const order = async (who: Person) => {
      const { body } = await tight.buy(service, who, { body: { site_url: site.at('/') } })
      await expect.poll(async () => (await tight.job(body.job_id)).status).toMatch(/^(verified|failed)$/)
      return tight.job(body.job_id)
    }
    const promise = (deliverable_schema: JsonObject) =>
      commit(tight.ctx(), async (t) => {
        const row = await t.table(services).getForUpdate(service)
        if (row) await t.table(services).put({ ...row, deliverable_schema })
      })
    const mallory = await tight.agent()
    await promise({ type: 'object', required: ['what no audit has'] })
    expect((await order(mallory)).escrow_status).toBe('refunded')
    await promise({ type: 'object' })
    const refused = await order(mallory)
    expect([refused.status, refused.notes]).toEqual([
      'failed',
      expect.stringMatching(/^Your recent orders failed or were/),
    ])
    expect((await order(await tight.agent())).status).toBe('verified')
  } finally {
    await tight.close()
    await site.close()
  }
})

test('an instant answer whose payment is released counts as unpaid time of its buyer', async () => {
  const tight = await openMarketplace({}, { threads: { unpaidMs: 1 } })
  try {
    const { ctx } = tight.daemon
    const mallory = await tight.buyer('1.00')
    const ordered = (who: Buyer) => buyTextAs(who, tight, { text: largest, slug: 'summarization' })
    expect(await ordered(mallory)).toMatchObject({ status: 200 })
    const { rows } = await ctx.store.table(payments).page('newest', [], { limit: 10 })
    await commit(ctx, async (t) => {
      for (const { id } of rows) {
        const row = await t.table(payments).getForUpdate(id)
        if (row) await t.table(payments).put({ ...row, state: 'released' })
      }
    })
    expect(await ordered(mallory)).toMatchObject({
      status: 503,
      body: { message: expect.stringMatching(/^Your recent orders/) },
    })
    expect(await ordered(await tight.buyer('1.00'))).toMatchObject({ status: 200 })
  } finally {
    await tight.close()
  }
})
