import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { member } from '../../../fixtures/kit/money.ts'
import { openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import { runMonitor } from '../../../fixtures/market/escrow.ts'
import { type Answer, type CallOptions, signPayment } from '../../../fixtures/market/marketplace.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { openPlans, type Plans, START } from '../../../fixtures/market/plans.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { jobs } from '../jobs/rows.ts'
import { ledger } from '../ledger/rows.ts'
import { services } from '../listings/rows.ts'
import { payments } from '../payments/rows.ts'
import { payouts } from '../payouts/rows.ts'

// @slow every kind of plan, over its periods

/* What a subscription pays for is bought by key alone: no 402, no postings, and all else as with money. */

let market: Plans
let hook: Provider
let instant: string
let automated: string
let human: string
let plan: string
beforeAll(async () => {
  hook = await openProvider()
  hook.answer = () => ({ body: JSON.stringify({ words: 3 }) })
  market = await openPlans()
  await market.provider.call('PUT', `/v1/participants/${market.provider.id}`, { webhook_url: hook.url })
  instant = await market.list('instant')
  automated = await market.list('automated', { input_schema: schema })
  human = await market.list('human')
  plan = await market.plan([instant, automated, human])
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
  await hook.close()
})

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const text = { text: 'one two three' }

async function subscriber(): Promise<{ who: Person; id: string }> {
  const who = await market.agent()
  return { who, id: await market.subscribed(plan, who) }
}

const path = (service: string) => `/v1/services/${service}/purchase`
const buy = (service: string, options: CallOptions) => market.market.call('POST', path(service), options)
const byKey = ({ key }: Person, more: Record<string, string> = {}) => ({ 'X-API-Key': key, ...more })
const postings = async () => market.ctx().store.table(ledger).count('seq', [])

test('an input that was paid for cannot be refused by a new input_schema before the period ends', async () => {
  const service = await market.list('automated', { input_schema: schema })
  const who = await market.agent()
  await market.subscribed(await market.plan([service]), who)
  const edit = (input_schema: object) => market.provider.call('PUT', `/v1/services/${service}`, { input_schema })
  const secret = { text: { type: 'string' }, code: { const: 'nobody knows it' } }
  const emptied = [
    { ...schema, properties: secret, required: ['text', 'code'] },
    { ...schema, properties: { text: { const: 'nobody knows it' } } },
    { ...schema, required: ['text', 'other'] },
    { ...schema, not: {} },
    { ...schema, additionalProperties: false },
  ]
  for (const one of emptied) {
    const { status, body } = await edit(one)
    expect([status, body.code, body.error]).toEqual([409, 'conflict', expect.stringContaining('restrict its input')])
  }
  expect((await edit({ ...schema, properties: { ...schema.properties, more: { type: 'string' } } })).status).toBe(200)
  expect((await buy(service, { body: text, headers: byKey(who) })).status).toBe(200)
})

describe('a subscriber', () => {
  test.each(['X-API-Key', 'X-BALANCE-AUTH', 'Authorization'])('is served an instant service by %s', async (name) => {
    const { who, id } = await subscriber()
    const before = await postings()
    const headers = { [name]: name === 'Authorization' ? `Bearer ${who.key}` : who.key }
    const { status, body } = await buy(instant, { body: text, headers })
    expect([status, body]).toEqual([
      200,
      {
        job_id: body.job_id,
        thread_id: body.thread_id,
        status: 'completed',
        service_id: instant,
        result: { words: 3 },
        deliverables: [{ words: 3 }],
        amount: '0.00',
        subscription_id: id,
        receipt_id: body.receipt_id,
      },
    ])
    expect([await postings(), await market.balance(who)]).toEqual([before, 0n])
    const job = await who.call('GET', `/v1/jobs/${body.job_id}`)
    expect(job.body).toMatchObject({
      status: 'completed',
      amount: '0.00',
      fee: '0.00',
      provider_amount: '0.00',
      subscription_id: id,
      escrow: { status: 'none' },
      payment: { method: 'subscription', transaction: null },
    })
  })

  test('orders an automated one, which ends without money', async () => {
    const { who, id } = await subscriber()
    const before = await postings()
    const { body } = await buy(automated, { body: text, headers: byKey(who) })
    expect(body).toMatchObject({ status: 'dispatched', amount: '0.00', subscription_id: id })
    const done = { status: 'completed', deliverables: { words: 3 } }
    await market.provider.call('POST', `/v1/jobs/${body.job_id}/update`, done)
    await runMonitor(market.ctx())
    const job = await who.call('GET', `/v1/jobs/${body.job_id}`)
    expect([job.body.status, job.body.escrow.status, await postings()]).toEqual(['released', 'none', before])
  })

  test('orders a human one, and may verify, dispute or cancel it like any other', async () => {
    const { who } = await subscriber()
    const order = async () => (await buy(human, { body: {}, headers: byKey(who) })).body
    const deliver = async (job: string) =>
      market.provider.call('POST', `/v1/jobs/${job}/update`, { status: 'completed', deliverables: {} })
    const [verified, disputed, cancelled, failed] = [await order(), await order(), await order(), await order()]
    for (const { job_id } of [verified, disputed]) await deliver(job_id)
    expect((await who.pay(`/v1/jobs/${verified.job_id}/verify`, { body: {} })).body.status).toBe('released')
    const complaint = { reason: 'bad', category: 'quality' }
    const recorded = await who.call('POST', `/v1/threads/${disputed.thread_id}/dispute`, complaint)
    expect([recorded.status, recorded.body.job.dispute.status]).toEqual([200, 'recorded'])
    await who.call('POST', `/v1/threads/${cancelled.thread_id}/decline`, {})
    await market.provider.call('POST', `/v1/jobs/${failed.job_id}/update`, { status: 'failed' })
    const said = await who.call('GET', `/v1/jobs/${failed.job_id}/messages`)
    expect(said.text).not.toContain('goes back')
    const rows = await market.ctx().store.table(jobs).getMany([cancelled.job_id, failed.job_id])
    expect(rows.map(({ status, escrow_status }) => [status, escrow_status])).toEqual([
      ['cancelled', 'none'],
      ['failed', 'none'],
    ])
  })

  test('gets the same answer for the same Idempotency-Key, and a 409 for another request', async () => {
    const { who } = await subscriber()
    const headers = byKey(who, { 'Idempotency-Key': 'once' })
    const first = await buy(automated, { body: text, headers })
    const again = await buy(automated, { body: text, headers })
    expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
    const balance = { 'X-BALANCE-AUTH': who.key, 'Idempotency-Key': 'once' }
    expect((await buy(automated, { body: text, headers: balance })).body.job_id).toBe(first.body.job_id)
    const other = await buy(automated, { body: { text: 'other' }, headers })
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_mismatch'])
    const together = await Promise.all(
      Array.from({ length: 16 }, () =>
        buy(automated, { body: text, headers: byKey(who, { 'Idempotency-Key': 'together' }) }),
      ),
    )
    expect(new Set(together.map(({ body }) => body.job_id)).size).toBe(1)
    const { rows } = await market
      .ctx()
      .store.table(jobs)
      .page('buyer', [who.account.address.toLowerCase()], { limit: 10 })
    expect(rows.length).toBe(2)
    await market.market.restart()
    expect((await buy(automated, { body: text, headers })).body.job_id).toBe(first.body.job_id)
  })

  test('pays nothing for a bad body, or where the provider fails', async () => {
    const { who } = await subscriber()
    const bad = await buy(automated, { body: {}, headers: byKey(who) })
    expect([bad.status, bad.body.code]).toEqual([400, 'input_invalid'])
    const usual = hook.answer
    hook.answer = () => ({ status: 500 })
    const failed = await buy(instant, { body: text, headers: byKey(who, { 'Idempotency-Key': 'again' }) })
    expect([failed.status, failed.body.code]).toEqual([502, 'provider_failed'])
    hook.answer = usual
    const better = await buy(instant, { body: text, headers: byKey(who, { 'Idempotency-Key': 'again' }) })
    expect([better.status, better.body.amount]).toEqual([200, '0.00'])
  })

  test('has nothing to get back when the listing is gone before it is served', async () => {
    const listed = await market.list('instant')
    const who = await market.agent()
    await market.subscribed(await market.plan([listed]), who)
    const usual = hook.answer
    hook.answer = async (message) => {
      await market.ctx().store.tx((t) => t.table(services).delete(listed))
      return usual(message)
    }
    const refused = await buy(listed, { body: text, headers: byKey(who) })
    hook.answer = usual
    expect([refused.status, await market.ctx().store.table(payouts).count('newest', [])]).toEqual([404, 0])
  })

  test('pays like anybody else where it signs a payment, or asks for what the plan does not hold', async () => {
    const { who } = await subscriber()
    const other = await market.list('human')
    for (const headers of [byKey(who), {}]) {
      const asked = await buy(other, { headers })
      expect([asked.status, asked.body.accepts[0].maxAmountRequired]).toEqual([402, '525000'])
    }
    const offer = await buy(automated, { body: text })
    const paid = await buy(automated, { body: text, headers: byKey(who, await signPayment(who.account, offer)) })
    expect([paid.status, paid.body.amount, paid.body.subscription_id]).toEqual([200, '0.525', undefined])
    const short = await buy(other, { body: {}, headers: { 'X-BALANCE-AUTH': who.key } })
    expect([short.status, short.body.code]).toEqual([402, 'insufficient_balance'])
  })

  test('is refused while paused and by a wrong key; the cutover, and a pause of escrow, leave it', async () => {
    const { who } = await subscriber()
    const headers = byKey(who, { 'Idempotency-Key': 'before the pause' })
    const before = await buy(automated, { body: text, headers })
    await market.switches({ paused_at: START })
    const paused = await buy(automated, { body: text, headers: byKey(who) })
    expect([paused.status, paused.body.code]).toEqual([503, 'paused'])
    expect((await buy(automated, { body: text, headers })).body.job_id).toBe(before.body.job_id)
    await market.switches({ paused_at: null, escrow_paused_at: START })
    expect((await buy(automated, { body: text, headers: byKey(who) })).status).toBe(200)
    expect((await buy(automated, { body: text })).body.feature).toBe('escrow')
    await market.switches({ escrow_paused_at: null, checkout_v2: true })
    expect((await buy(automated, { body: text, headers: byKey(who) })).status).toBe(200)
    await market.switches({ checkout_v2: false })
    const wrong = await buy(automated, { body: text, headers: { 'X-API-Key': `sk_${'0'.repeat(40)}` } })
    expect([wrong.status, wrong.body.code]).toEqual([401, 'unauthorized'])
  })
})

test.each([1, 2] as const)(
  'a published x402 client subscribes in generation %i, and then never meets a 402',
  async (version) => {
    const { id, apiKey, fetch } = await member(market.market, { wallet: '5.00' })
    const send = async (to: string, headers: Record<string, string> = {}) => {
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(text),
      }
      const answer = await fetch(version)(`${market.market.url()}${to}`, init)
      return {
        status: answer.status,
        body: (await answer.json()) as Answer['body'],
        settled: answer.headers.get('PAYMENT-RESPONSE'),
      }
    }
    const begun = await send(`/v1/plans/${plan}/subscribe`)
    expect(begun).toMatchObject({ status: 200, body: { status: 'active', payment: { method: 'x402' } } })
    expect(begun.body.subscriber.participant_id).toBe(id)
    const bought = await send(path(instant), { 'X-API-Key': apiKey })
    expect(bought).toMatchObject({
      status: 200,
      body: { amount: '0.00', subscription_id: begun.body.id },
      settled: null,
    })
  },
)

describe('access', () => {
  const status = async (who: Person) => (await buy(automated, { body: text, headers: byKey(who) })).status

  test('goes on to the end of the period when canceled or paused, and ends at once when told to', async () => {
    const [waiting, paused, now] = [await subscriber(), await subscriber(), await subscriber()]
    await waiting.who.call('POST', `/v1/subscriptions/${waiting.id}/cancel`, {})
    await paused.who.call('POST', `/v1/subscriptions/${paused.id}/pause`, {})
    await now.who.call('POST', `/v1/subscriptions/${now.id}/cancel`, { at_period_end: false })
    expect([await status(waiting.who), await status(paused.who), await status(now.who)]).toEqual([200, 200, 402])
    const { current_period_end: end } = await market.row(waiting.id)
    market.at(end - 1)
    expect([await status(waiting.who), await status(paused.who)]).toEqual([200, 200])
    market.at(end)
    expect([await status(waiting.who), await status(paused.who)]).toEqual([402, 402])
    market.at(START)
  })

  test('goes on for a moment after the period, until the run that charges the next one', async () => {
    const { who, id } = await subscriber()
    const { current_period_end: end } = await market.row(id)
    market.at(end + 5 * MINUTE_MS)
    expect(await status(who)).toBe(200)
    await market.renew() // nothing is left in the balance
    expect([(await market.row(id)).status, await status(who)]).toEqual(['past_due', 402])
    market.at(end + HOUR_MS)
    expect(await status(who)).toBe(402)
    market.at(START)
  })

  test('holds a listing: it cannot be removed before the period is over', async () => {
    const listed = await market.list('human')
    const single = await market.plan([listed])
    const who = await market.agent()
    const id = await market.subscribed(single, who)
    const remove = () => market.provider.call('DELETE', `/v1/services/${listed}`)
    const held = await remove()
    expect([held.status, held.body.code]).toEqual([409, 'conflict'])
    await market.provider.call('DELETE', `/v1/plans/${single}`)
    expect((await remove()).status).toBe(409)
    market.at((await market.row(id)).current_period_end)
    expect((await remove()).status).toBe(200)
    await market.renew()
    expect((await market.row(id)).status).toBe('canceled')
    market.at(START)
    const ended = await market.list('human')
    const who2 = await market.agent()
    const id2 = await market.subscribed(await market.plan([ended]), who2)
    await who2.call('POST', `/v1/subscriptions/${id2}/cancel`, { at_period_end: false })
    expect((await market.provider.call('DELETE', `/v1/services/${ended}`)).status).toBe(200)
  })
})

test('a purchase under a subscription leaves no open payment behind', async () => {
  expect(await market.ctx().store.table(payments).count('open', [])).toBe(0)
})
