import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../fixtures/kit/depth.ts'
import { type Escrow, openEscrow } from '../../fixtures/market/escrow.ts'
import { type Answer, signPayment } from '../../fixtures/market/marketplace.ts'
import type { Person } from '../../fixtures/market/people.ts'
import { HOUR_MS } from '../../src/core/time.ts'
import { account } from '../features/ledger/legs.ts'
import { QUOTE_WINDOW_MS } from '../features/listings/quote-window.ts'

// @slow random histories

/* A provider that edits at random against buyers that pay at random, over HTTP; what each was quoted is kept here. */

const RUNS = runs(25, 10)
const STEPS = 14

let market: Escrow
let buyer: Person
beforeAll(async () => {
  market = await openEscrow()
  buyer = await market.agent({ balance: '500.00' })
  const body = { wallet: buyer.account.address, amount: '500.00' }
  await market.market.admin('POST', '/dashboard/api/admin/faucet', { body })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const edit = fc.record({
  do: fc.constant('edit' as const),
  mills: fc.constantFrom(200, 400, 600),
  hours: fc.integer({ min: 30, max: 32 }),
})
const act = fc.oneof(
  edit,
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(50_000, QUOTE_WINDOW_MS) }),
  fc.record({ do: fc.constant('ask' as const), version: fc.constantFrom(1 as const, 2 as const) }),
  fc.record({ do: fc.constant('sign' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('spend' as const), bound: fc.constantFrom(undefined, '0.20', '0.42') }),
)
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never
type Version = { readonly mills: number; readonly hours: number }
type Signed = { readonly price: string; readonly headers: Record<string, string> }

const priceOf = ({ mills }: Version) => ((mills * 105) / 100 / 1_000).toFixed(2)
const wall = () => market.ctx().clock.wall()
const money = async () => (await market.onChain(buyer)) + (await market.booked(account.balance(buyer.id)))

async function live(acts: readonly Act[]): Promise<void> {
  let today: Version = { mills: 400, hours: 30 }
  let before: (Version & { readonly until: number }) | undefined
  const price = (mills: number) => (mills / 1_000).toFixed(3)
  const id = await market.list('human', { price: price(today.mills), estimated_delivery: `${today.hours} hours` })
  const path = `/v1/services/${id}/purchase`
  const signed: Signed[] = []
  const good = () => (before && before.until > wall() ? [before, today] : [today])

  /** What was paid is the price of a version that was good, and the job is due as that version said. */
  async function expectSold(answer: Answer, version: Version): Promise<void> {
    expect([answer.status, answer.body.amount]).toEqual([200, priceOf(version)])
    expect((await market.job(answer.body.job_id)).estimate_ms).toBe(version.hours * HOUR_MS)
  }
  async function expectUncharged(paying: Promise<Answer>, status: number): Promise<void> {
    const had = await money()
    expect((await paying).status).toBe(status)
    expect(await money()).toBe(had)
  }

  async function change({ mills, hours }: Version): Promise<void> {
    const body = { price: price(mills), estimated_delivery: `${hours} hours` }
    const { status } = await market.provider.call('PUT', `/v1/services/${id}`, body)
    const isEdit = mills !== today.mills || hours !== today.hours
    expect(status).toBe(isEdit && good().length > 1 ? 409 : 200)
    if (status !== 200 || !isEdit) return
    before = { ...today, until: wall() + QUOTE_WINDOW_MS }
    today = { mills, hours }
  }

  async function ask(version: 1 | 2): Promise<void> {
    const offer = await market.market.call('POST', path)
    expect(offer.body.accepts[0].maxAmountRequired).toBe(String(Number(priceOf(today)) * 1e6))
    const nowMs = wall() + 10 * QUOTE_WINDOW_MS
    signed.push({ price: priceOf(today), headers: await signPayment(buyer.account, offer, { version, nowMs }) })
  }

  async function sign(which: number): Promise<void> {
    const [one] = signed.splice(which % Math.max(1, signed.length), 1)
    if (!one) return
    const version = good().find((each) => priceOf(each) === one.price)
    const paying = () => market.market.call('POST', path, { body: {}, headers: one.headers })
    if (!version) return expectUncharged(paying(), 402)
    await expectSold(await paying(), version)
  }

  async function spend(bound: string | undefined): Promise<void> {
    const cheapest = good().reduce((least, each) => (each.mills < least.mills ? each : least))
    const headers = { 'X-BALANCE-AUTH': buyer.key, ...(bound === undefined ? {} : { 'X-Max-Price': bound }) }
    const paying = () => market.market.call('POST', path, { body: {}, headers })
    if (bound !== undefined && Number(bound) < Number(priceOf(cheapest))) return expectUncharged(paying(), 409)
    await expectSold(await paying(), cheapest)
  }

  for (const one of acts) {
    if (one.do === 'edit') await change(one)
    else if (one.do === 'wait') market.pass(one.ms, { wall: true })
    else if (one.do === 'ask') await ask(one.version)
    else if (one.do === 'sign') await sign(one.which)
    else await spend(one.bound)
  }
}

test('whatever is edited, nobody pays more than was quoted, and each sale has the terms of the price that was paid', async () => {
  await fc.assert(fc.asyncProperty(fc.array(act, { minLength: 6, maxLength: STEPS }), live), { numRuns: RUNS })
})
