import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chainWith } from '../../fixtures/kit/faults.ts'
import { type Listing, priced } from '../../fixtures/market/escrow.ts'
import { type Answer, signPayment } from '../../fixtures/market/marketplace.ts'
import { openTalk } from '../../fixtures/market/negotiation.ts'
import type { Person } from '../../fixtures/market/people.ts'
import { openRequests, type Requests } from '../../fixtures/market/postings.ts'
import { product } from '../../fixtures/market/products.ts'
import { HOUR_MS, SECOND_MS } from '../../src/core/time.ts'
import type { FulfillmentType } from '../../src/model/service.ts'
import { type JobRow, jobs } from '../features/jobs/rows.ts'
import { QUOTE_WINDOW_MS } from '../features/listings/quote-window.ts'
import { subscriptions } from '../features/subscriptions/rows.ts'

// @slow everything that can change between an offer and its payment

/* A provider that edits between the quote and the payment: what was quoted is what is bought, on every path. */

let requests: Requests
let isLost = false
beforeAll(async () => {
  const chain = chainWith((real) => ({
    settle: async (...payment) => {
      const settled = await real.settle(...payment)
      return isLost ? { ok: false, failure: 'unavailable', sent: true } : settled
    },
  }))
  requests = await openRequests({ chain })
})
afterEach(() => {
  isLost = false
  later(-moved)
})
afterAll(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})

const HUMAN = { deliverable_schema: { type: 'object', required: ['report'] }, estimated_delivery: '2 days' }
/** What turns a hold of 48 hours into a release at once, of anything at all. */
const CHEAT = {
  service_type: 'automated_service',
  fulfillment_type: 'automated',
  deliverable_schema: { type: 'object' },
  estimated_delivery: '14 days',
}
const call: Requests['market']['market']['call'] = (...request) => requests.market.market.call(...request)
const purchase = (service: string) => `/v1/services/${service}/purchase`
const list = (kind: FulfillmentType, change: Listing = {}) => requests.market.list(kind, { ...HUMAN, ...change })
const edit = (service: string, change: Listing) =>
  requests.market.provider.call('PUT', `/v1/services/${service}`, change)
const buyer = (balance?: string) => requests.market.agent(balance === undefined ? {} : { balance })
let moved = 0
const later = (ms: number) => {
  moved += ms
  requests.market.pass(ms, { wall: true })
}

async function done(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked
  if (answer.status !== 200) throw new Error(answer.text)
  return answer
}

/** Signs what is asked now, for long enough to outlive a window, and sends it when told. */
async function quoted(who: Person, path: string, { version = 1 as 1 | 2, body = {} as object } = {}) {
  const nowMs = requests.market.ctx().clock.wall() + 2 * QUOTE_WINDOW_MS
  const headers = await signPayment(who.account, await call('POST', path), { version, nowMs })
  return (more: Record<string, string> = {}) => call('POST', path, { body, headers: { ...headers, ...more } })
}

const fromBalance = (who: Person, path: string, more: Record<string, string> = {}) =>
  call('POST', path, { body: {}, headers: { 'X-BALANCE-AUTH': who.key, ...more } })
const heldOf = async (who: Person) =>
  [await requests.market.onChain(who), await requests.market.booked(`bal:${who.id}`)] as const
const jobOf = ({ body }: Answer): Promise<JobRow> => requests.market.job(body.job_id ?? body.job.id)

/** Sold as promised: held for its buyer to look at, checked against the schema that was shown, due when it was said. */
async function expectPromised(job: JobRow, hours: number): Promise<void> {
  expect(job).toMatchObject({ service_type: 'human_service', deliverable_schema: HUMAN.deliverable_schema })
  expect(job.deadline_at).toBe(job.created_at + Math.max(3 * hours, 24) * HOUR_MS)
  const update = (deliverables: unknown) =>
    requests.market.provider.call('POST', `/v1/jobs/${job.id}/update`, { status: 'completed', deliverables })
  expect((await update({ anything: 1 })).status).toBe(400)
  expect((await update({ report: 'all of it' })).body).toMatchObject({
    status: 'completed',
    escrow: { status: 'held', next_event: 'verify' },
  })
}

describe('a purchase', () => {
  test.each([1, 2] as const)(
    'signed (v%d) before the price was raised buys the old price and the old terms',
    async (version) => {
      const [service, who] = [await list('human'), await buyer()]
      const pay = await quoted(who, purchase(service), { version })
      await done(edit(service, { ...CHEAT, price: '20.00' }))
      const bought = await done(pay())
      expect(bought.body.amount).toBe('0.525')
      await expectPromised(await jobOf(bought), 48)
    },
  )

  test('signed before the terms were edited at an equal price buys the old terms', async () => {
    const [service, who] = [await list('human'), await buyer()]
    const pay = await quoted(who, purchase(service))
    await done(edit(service, CHEAT))
    await expectPromised(await jobOf(await done(pay())), 48)
  })

  test('signed for today’s price buys today’s terms; signed for the old one after the window it is refused', async () => {
    const [service, who] = [await list('human'), await buyer()]
    const old = await quoted(who, purchase(service))
    await done(edit(service, { price: '2.00', estimated_delivery: '5 days' }))
    const fresh = await done((await quoted(who, purchase(service)))())
    expect([fresh.body.amount, (await jobOf(fresh)).estimate_ms]).toEqual(['2.10', 120 * HOUR_MS])
    later(QUOTE_WINDOW_MS)
    const before = await heldOf(who)
    const refused = await old()
    expect([refused.status, refused.body.accepts[0].maxAmountRequired]).toEqual([402, '2100000'])
    expect(await heldOf(who)).toEqual(before)
  })

  test('from a balance that never saw a 402 is not charged a price that was raised just before', async () => {
    const [service, who] = [await list('human'), await buyer('50.00')]
    await done(edit(service, { ...CHEAT, price: '20.00' }))
    const bought = await done(fromBalance(who, purchase(service)))
    expect(bought.body.amount).toBe('0.525')
    await expectPromised(await jobOf(bought), 48)
    later(QUOTE_WINDOW_MS)
    expect((await done(fromBalance(who, purchase(service)))).body.amount).toBe('21.00')
  })

  test('from a balance gets the newer version where that is cheaper', async () => {
    const [service, who] = [await list('human'), await buyer('50.00')]
    await done(edit(service, { price: '0.20', estimated_delivery: '5 days' }))
    const bought = await done(fromBalance(who, purchase(service)))
    expect([bought.body.amount, (await jobOf(bought)).estimate_ms]).toEqual(['0.21', 120 * HOUR_MS])
  })

  test('above X-Max-Price is a 409 that names the price, and charges nothing, however it is paid', async () => {
    const [service, who] = [await list('human', { price: '5.00' }), await buyer('50.00')]
    const before = await heldOf(who)
    const path = purchase(service)
    const signed = await quoted(who, path)
    for (const pay of [signed, (more: Record<string, string>) => fromBalance(who, path, more)]) {
      const refused = await pay({ 'X-Max-Price': '5.249999' })
      expect(refused.body).toMatchObject({ code: 'conflict', price: '5.25', max_price: '5.249999' })
      expect([refused.status, refused.body.message.includes('$5.25')]).toEqual([409, true])
      const bad = await pay({ 'X-Max-Price': 'cheap' })
      expect([bad.status, bad.body.details[0].path]).toEqual([400, 'X-Max-Price'])
    }
    expect(await heldOf(who)).toEqual(before)
    expect((await done(signed({ 'X-Max-Price': '$5.25' }))).body.amount).toBe('5.25')
    expect((await done(fromBalance(who, path, { 'X-Max-Price': '6' }))).body.amount).toBe('5.25')
  })

  test('of a listing that was taken down is refused at once, uncharged', async () => {
    const [service, who] = [await list('human'), await buyer('50.00')]
    const signed = await quoted(who, purchase(service))
    await done(edit(service, { price: '0.60', status: 'inactive' }))
    const before = await heldOf(who)
    expect([(await signed()).status, (await fromBalance(who, purchase(service))).status]).toEqual([404, 404])
    expect(await heldOf(who)).toEqual(before)
  })

  test('that runs at once is checked against the schema that was quoted', async () => {
    const instant = { deliverable_schema: HUMAN.deliverable_schema, estimated_delivery: 'instant' }
    const [service, who] = [await list('instant', instant), await buyer()]
    requests.market.hook.answer = () => ({ body: JSON.stringify({ anything: 1 }) })
    const pay = await quoted(who, purchase(service))
    await done(edit(service, { deliverable_schema: { type: 'object' } }))
    const before = await heldOf(who)
    expect((await pay()).body.code).toBe('provider_failed')
    expect(await heldOf(who)).toEqual(before)
  })

  test('that a crash cut short opens its job with the terms that were paid for', async () => {
    const [service, who] = [await list('human'), await buyer()]
    const pay = await quoted(who, purchase(service))
    isLost = true
    expect((await pay()).status).toBe(402)
    isLost = false
    await done(edit(service, { price: '20.00', ...CHEAT }))
    later(QUOTE_WINDOW_MS)
    await done(edit(service, { price: '30.00' }))
    await requests.market.market.restart()
    const { rows } = await requests.market
      .ctx()
      .store.table(jobs)
      .page('buyer', [wallet(who)], { limit: 2 })
    expect(rows.map(({ amount }) => amount)).toEqual([525_000n])
    await expectPromised(rows[0] as JobRow, 48)
  })
})

const wallet = (who: Person) => who.account.address.toLowerCase()

test('a proposal keeps the terms of the listing that it was made about', async () => {
  const talk = await openTalk(requests.market, { service: await list('human') })
  await done(talk.propose('2.00'))
  const pay = await quoted(talk.agent, talk.at('accept'))
  await done(edit(talk.service, { deliverable_schema: { type: 'object' }, estimated_delivery: '14 days' }))
  await expectPromised(await jobOf(await done(pay())), 48)
})

test('a bid keeps the terms of the listing that it names', async () => {
  const service = await list('human')
  const posting = await requests.post()
  const bid = await requests.bid(posting, { service_id: service })
  await done(edit(service, { deliverable_schema: { type: 'object' }, estimated_delivery: '14 days' }))
  await expectPromised(await jobOf(await done(requests.award(posting, bid))), 24)
})

describe('a proposal that takes the place of another', () => {
  test('is not what a signature over the first, or a balance without a bound, pays for', async () => {
    const service = await list('human')
    for (const from of ['x402', 'balance'] as const) {
      const talk = await openTalk(requests.market, { service, agent: await buyer('50.00') })
      await done(talk.propose('2.00'))
      const signed = await quoted(talk.agent, talk.at('accept'))
      await done(talk.propose('20.00', { estimated_delivery: '14 days' }))
      const accepted = await done(from === 'x402' ? signed() : talk.accept({ by: 'balance' }))
      expect(accepted.body).toMatchObject({ amount: '2.10', proposal: { price: '2.00', status: 'accepted' } })
      await expectPromised(await jobOf(accepted), 48)
    }
  })

  test('is what is paid for once it was asked for, and cannot be replaced before the window is over', async () => {
    const talk = await openTalk(requests.market, { service: await list('human') })
    await done(talk.propose('2.00'))
    await done(talk.propose('3.00'))
    const third = await talk.propose('4.00')
    expect([third.status, third.body.code]).toEqual([409, 'conflict'])
    expect(Number(third.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect((await done(talk.accept())).body.amount).toBe('3.15')
  })
})

describe('an edit', () => {
  test('of a price or term inside the window of another is refused with the time to wait; of anything else it is not', async () => {
    const service = await list('human')
    await done(edit(service, { price: '1.00' }))
    await done(edit(service, { description: 'Counts words well.', price: '1.00' }))
    const second = await edit(service, { estimated_delivery: '3 days' })
    expect([second.status, second.body.code]).toEqual([409, 'conflict'])
    const wait = Number(second.headers.get('Retry-After'))
    expect(wait).toBe(second.body.retry_after)
    later(wait * SECOND_MS)
    await done(edit(service, { estimated_delivery: '3 days' }))
  })

  test('is not told apart by taking the listing down between two', async () => {
    const service = await list('human')
    await done(edit(service, { status: 'inactive' }))
    await done(edit(service, { price: '1.00' }))
    expect((await edit(service, { price: '20.00' })).status).toBe(409)
  })

  test('of the kind is refused while a job, a proposal or a bid about the listing is open', async () => {
    const [ofJob, ofProposal, ofBid] = [await list('human'), await list('human'), await list('human')]
    const bought = await done(requests.market.buy(ofJob, await buyer()))
    const talk = await openTalk(requests.market, { service: ofProposal })
    await done(talk.propose('2.00'))
    const posting = await requests.post()
    const bid = await requests.bid(posting, { service_id: ofBid })
    for (const [service, what] of [
      [ofJob, bought.body.job_id],
      [ofProposal, talk.thread],
      [ofBid, bid],
    ] as const) {
      const refused = await edit(service, CHEAT)
      expect([refused.status, refused.body.message.includes(what)]).toEqual([409, true])
    }
    await done(requests.market.provider.call('POST', `/v1/jobs/${bought.body.job_id}/update`, { status: 'failed' }))
    await done(requests.market.provider.call('POST', talk.at('decline'), {}))
    await done(requests.market.provider.call('DELETE', `/v1/postings/${posting}/bids/${bid}`))
    for (const service of [ofJob, ofProposal, ofBid]) await done(edit(service, CHEAT))
  })
})

test('a product is sold at the price that was quoted', async () => {
  const { provider, market } = requests.market
  const id = (await done(product(market, provider))).body.id
  const path = `/v1/products/${id}/purchase`
  const [signer, payer, third] = [await buyer(), await buyer('90.00'), await buyer('90.00')]
  const signed = await quoted(signer, path)
  const asked = (await call('POST', path)).body.accepts[0].maxAmountRequired
  const raise = (price: string) => provider.call('PUT', `/v1/products/${id}`, { price })
  await done(raise('50.00'))
  expect((await raise('60.00')).status).toBe(409)
  const refused = await fromBalance(third, path, { 'X-Max-Price': '0.01' })
  expect(refused.status).toBe(409)
  const atomic = ({ body }: Answer) => BigInt(Math.round(Number(body.amount) * 1e6)).toString()
  expect([atomic(await done(signed())), atomic(await done(fromBalance(payer, path)))]).toEqual([asked, asked])
  later(QUOTE_WINDOW_MS)
  expect((await done(fromBalance(third, path))).body.amount).toBe('52.50')
})

describe('a plan', () => {
  async function planOf(services: readonly string[]): Promise<string> {
    const body = { name: 'All', description: '', price: '1.00', billing_period: 'monthly', service_ids: services }
    return (await done(requests.market.provider.call('POST', '/v1/plans', body))).body.id
  }
  const change = (plan: string, body: object) => requests.market.provider.call('PUT', `/v1/plans/${plan}`, body)

  test('is subscribed to with the price, period and bundle that were quoted', async () => {
    const [good, poor] = [await list('human'), await list('human')]
    for (const from of ['x402', 'balance'] as const) {
      const [plan, who] = [await planOf([good]), await buyer('50.00')]
      const path = `/v1/plans/${plan}/subscribe`
      const signed = await quoted(who, path)
      await done(change(plan, { price: '20.00', billing_period: 'annual', service_ids: [poor] }))
      expect((await change(plan, { price: '30.00' })).status).toBe(409)
      const paid = await done(from === 'x402' ? signed() : fromBalance(who, path))
      expect(paid.body).toMatchObject({ amount: '1.05', billing_period: 'monthly', service_ids: [good] })
    }
  })

  test('cannot be paid for once a part of its bundle was taken down', async () => {
    const [one, other, who] = [await list('human'), await list('human'), await buyer()]
    const plan = await planOf([one, other])
    const signed = await quoted(who, `/v1/plans/${plan}/subscribe`)
    await done(edit(other, { status: 'inactive' }))
    const before = await heldOf(who)
    const refused = await signed()
    expect([refused.status, refused.body.message.includes(other)]).toEqual([409, true])
    expect(await heldOf(who)).toEqual(before)
  })

  test('that is paid for keeps its services up, of their kind, and at the terms of its period', async () => {
    const [service, who] = [await list('human'), await buyer('50.00')]
    const plan = await planOf([service])
    const signed = await quoted(who, `/v1/plans/${plan}/subscribe`)
    await done(edit(service, { deliverable_schema: { type: 'object' } }))
    const { body: paid } = await done(signed())
    for (const body of [{ status: 'inactive' }, CHEAT]) {
      const refused = await edit(service, body)
      expect([refused.status, refused.body.message.includes(paid.current_period_end)]).toEqual([409, true])
    }
    later(QUOTE_WINDOW_MS)
    await done(edit(service, { deliverable_schema: { type: 'array' }, estimated_delivery: '14 days' }))
    const bought = await done(fromBalance(who, purchase(service)))
    expect(bought.body).toMatchObject({ amount: '0.00', subscription_id: paid.id })
    const job = await jobOf(bought)
    expect(job).toMatchObject({ deliverable_schema: HUMAN.deliverable_schema, estimate_ms: 48 * HOUR_MS })
    expect(await requests.market.ctx().store.table(subscriptions).get(paid.id)).toMatchObject({ charges: 1 })
  })
})

test('an unpaid probe is told today’s price, whatever bound it names', async () => {
  const service = await list('human', { price: priced.price })
  await done(edit(service, { price: '20.00' }))
  const probe = await call('POST', purchase(service), { headers: { 'X-Max-Price': '0.01' } })
  expect([probe.status, probe.body.accepts[0].maxAmountRequired]).toEqual([402, '21000000'])
})
