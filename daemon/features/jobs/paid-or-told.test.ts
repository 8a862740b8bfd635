import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startDaemon } from '../../../fixtures/kit/child.ts'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { departure } from '../../../fixtures/kit/departure.ts'
import { gate } from '../../../fixtures/kit/faults.ts'
import { openPayments } from '../../../fixtures/kit/money.ts'
import { openProvider, type Provider, type Answer as Reply } from '../../../fixtures/kit/provider.ts'
import { type Escrow, openEscrow, PRICE, priced } from '../../../fixtures/market/escrow.ts'
import { callsTo, signPayment } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { account } from '../ledger/legs.ts'
import { payments } from '../payments/rows.ts'

/* Instant work of a provider is paid, or the provider is told that it is not: whatever becomes of the buyer or of us. */

const done: Reply = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ words: 3 }) }
const body = { text: 'a b c' }

type Post = { readonly url: string; readonly path: string; readonly headers: Record<string, string> }

/** A purchase by a client that hangs up once the provider has been called. */
async function hangUp(provider: Provider, { url, path, headers }: Post): Promise<void> {
  const called = gate()
  const answer = gate()
  const before = provider.answer
  provider.answer = async (message) => {
    await called.wait()
    await answer.wait()
    return before(message)
  }
  const left = departure(path)
  const sent = request(`${url}${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } })
  sent.on('error', () => undefined)
  sent.end(JSON.stringify(body))
  await called.reached
  called.open()
  await answer.reached
  sent.destroy()
  await left
  provider.answer = before
  answer.open()
}

async function settled(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(10)
}

describe('a buyer who hangs up once the provider was called', () => {
  let market: Escrow
  let path: string
  beforeAll(async () => {
    market = await openEscrow()
    path = `/v1/services/${await market.list('instant')}/purchase`
  })
  beforeEach(() => {
    market.hook.answer = () => done
  })
  afterAll(async () => {
    expect(await market.faults()).toEqual([])
    await market.close()
  })

  const deliveries = async () => (await market.provider.call('GET', '/v1/webhooks/deliveries')).body.deliveries
  /** Jobs that the provider was told of in this way. */
  const told = (type: string) =>
    market.hook.received.flatMap(({ body: said }) => (said.type === type ? [said.job_id as string] : []))
  const earned = () => market.booked(account.provider(market.provider.id))
  const nothingOpen = () => settled(async () => (await openPayments(market.market)).length === 0)

  async function headersOf(who: Person, from: 'x402' | 'balance'): Promise<Record<string, string>> {
    const key = { 'Idempotency-Key': `hung-up-${who.id}` }
    if (from === 'balance') return { ...key, 'X-BALANCE-AUTH': who.key }
    return { ...key, ...(await signPayment(who.account, await market.market.call('POST', path, { body }))) }
  }

  test.each(['x402', 'balance'] as const)('by %s pays for the work, and its retry gets the answer', async (from) => {
    const who = await market.agent({ balance: '1.00' })
    const before = await earned()
    const headers = await headersOf(who, from)
    await hangUp(market.hook, { url: market.market.url(), path, headers })
    await nothingOpen()
    expect((await earned()) - before).toBe(PRICE.net)
    const calls = market.hook.received.length
    const again = await market.market.call('POST', path, { body, headers })
    expect([again.status, again.headers.get('Idempotency-Replayed'), again.body.result]).toEqual([
      200,
      'true',
      { words: 3 },
    ])
    expect(market.hook.received).toHaveLength(calls)
    expect((await deliveries())[0]).toMatchObject({ type: 'job_dispatch', status: 'delivered' })
  })

  test.each(['x402', 'balance'] as const)(
    'by %s is not charged where it fails, and the call is on record',
    async (from) => {
      const who = await market.agent({ balance: '1.00' })
      const before = [await earned(), await market.onChain(who), await market.booked(account.balance(who.id))]
      market.hook.answer = () => ({ status: 500 })
      await hangUp(market.hook, { url: market.market.url(), path, headers: await headersOf(who, from) })
      await nothingOpen()
      expect([await earned(), await market.onChain(who), await market.booked(account.balance(who.id))]).toEqual(before)
      expect((await deliveries())[0]).toMatchObject({
        type: 'job_dispatch',
        status: 'dead',
        attempts: [{ status: 500 }],
      })
    },
  )

  test('leaves a provider that delivered what it did not promise told that it is not paid', async () => {
    const strict = await market.list('instant', { deliverable_schema: { type: 'object', required: ['words'] } })
    market.hook.answer = () => ({ ...done, body: '[]' })
    const who = await market.agent()
    expect((await market.buy(strict, who)).status).toBe(502)
    await expect.poll(() => told('job.unpaid')).toContain(told('job_dispatch').at(-1))
  })

  test('and a provider that never answers: a stop ends the call, and the provider is told', async () => {
    const who = await market.agent()
    market.hook.answer = () => Promise.withResolvers<never>().promise
    const headers = await headersOf(who, 'x402')
    const calls = market.hook.received.length
    const sent = request(`${market.market.url()}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
    })
    sent.on('error', () => undefined)
    sent.end(JSON.stringify(body))
    await settled(async () => market.hook.received.length > calls)
    sent.destroy()
    await market.market.restart()
    market.hook.answer = () => done
    expect(await openPayments(market.market)).toEqual([])
    expect(await market.onChain(who)).toBeGreaterThanOrEqual(PRICE.agent)
    await expect.poll(() => told('job.unpaid')).toContain(market.hook.received[calls]?.body.job_id)
  })

  test('what was released keeps nothing of what was asked for', async () => {
    const { rows } = await market.ctx().store.table(payments).page('released', [], { limit: 10 })
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows)
      expect([row.input, row.terms, row.outcome, row.begun]).toEqual([null, null, null, undefined])
  })
})

describe('a daemon killed while a provider works for a buyer', () => {
  let dir: string
  let hook: Provider
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'souk-told-'))
    hook = await openProvider()
  })
  afterAll(async () => {
    await hook.close()
    await rm(dir, { recursive: true, force: true })
  })

  test('releases the payment when it starts again, and tells the provider', async () => {
    const config = { ...configDefaults, dataDir: dir, durability: 'full' as const }
    let child = await startDaemon(config)
    const market = callsTo(() => child.url, dir)
    const provider = await registered(market, { type: 'provider', webhook_url: hook.url })
    const listed = await provider.call('POST', '/v1/services', { ...priced, fulfillment_type: 'instant' })
    const path = `/v1/services/${listed.body.id}/purchase`
    const buyer = await stranger(market)
    const headers = await signPayment(buyer.account, await market.call('POST', path, { body }))
    const working = gate()
    hook.answer = () => working.wait().then(() => done)
    const bought = market.call('POST', path, { body, headers }).catch(() => undefined)
    await working.reached
    await child.kill()
    expect(await bought).toBeUndefined()
    const [called] = hook.received
    hook.answer = () => ({})
    child = await startDaemon(config)
    await settled(async () => hook.received.length > 1)
    expect(hook.received[1]?.body).toMatchObject({ type: 'job.unpaid', job_id: called?.body.job_id })
    const { deliveries } = (await provider.call('GET', '/v1/webhooks/deliveries')).body
    expect(deliveries.at(-1)).toMatchObject({
      type: 'job_dispatch',
      status: 'dead',
      job_id: called?.body.job_id,
      reason: 'this marketplace stopped during the call',
    })
    hook.answer = () => done
    const again = await market.call('POST', path, { body, headers })
    expect([again.status, again.body.result]).toEqual([200, { words: 3 }])
    await child.kill()
  })
})
