import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { amountOf, type Usdc, usdc } from '../../../src/core/money.ts'
import { MAX_PRICE, PRICE_STEP } from '../../../src/core/price.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { type EntryKind, linesOf } from '../../../src/model/ledger.ts'
import type { Change } from '../../store/port.ts'
import { account, legsOf, split as splitOf } from '../ledger/legs.ts'
import { callRing } from './buckets.ts'
import { openCallFigures, outcomeOf } from './calls.ts'
import { addFlows, heldAfter, noFlows } from './flows.ts'
import { openPaidFigures } from './money.ts'

// @story two purchases, then the figures that count them

/* What the figures say is what happened, and they never grow. */

let market: Escrow
beforeAll(async () => {
  market = await openEscrow({}, { crons: false })
})
afterAll(() => market.close())

const look = async (path: string) => {
  const { status, body } = await market.market.admin('GET', `/dashboard/api/admin/${path}`)
  expect(status).toBe(200)
  return body
}

// One day of one marketplace: the second test counts what the first one sold.
describe('figures of the first two purchases', () => {
  test('money is told from what was paid in to where it went, and the books agree at each step', async () => {
    const before = await look('river')
    expect(before).toMatchObject({ held: '0.00', held_jobs: 0, in_flight: 0, sales: 0, agrees: true })
    const who = await market.agent()
    const bought = await market.buy(await market.list('human'), who)
    const { job_id: id } = bought.body
    const held = await look('river')
    const { amount, provider_amount: net, fee } = (await look(`jobs?limit=1`)).jobs[0]
    expect(held).toMatchObject({ by_x402: expect.any(String), held: amount, held_jobs: 1, sales: 1, agrees: true })
    const done = { status: 'completed', deliverables: { words: 3 } }
    await market.provider.call('POST', `/v1/jobs/${id}/update`, done)
    const complaint = { reason: 'three is wrong', category: 'other' }
    expect((await who.pay(`/v1/jobs/${id}/dispute`, { body: complaint })).status).toBe(200)
    expect(await look('river')).toMatchObject({ disputed: amount, held: amount, agrees: true })
    await market.market.admin('POST', `/dashboard/api/admin/jobs/${id}/resolve`, {
      body: { outcome: 'release', reason: 'it is all there' },
    })
    const after = await look('river')
    expect(after).toMatchObject({ held: '0.00', disputed: '0.00', providers: net, owed: net, agrees: true })
    expect(Number(after.fees)).toBeGreaterThanOrEqual(Number(before.fees) + Number(fee))

    // Every micro-dollar that came in from the chain is on some account, by the running sums and by the accounts.
    const micros = (amount: string) => BigInt(Math.round(Number(amount) * 1e6))
    const sums = new Map<string, bigint>(
      after.books.map((one: { kind: string; amount: string }) => [one.kind, micros(one.amount)]),
    )
    expect([...sums.values()].reduce((all, one) => all + one, 0n)).toBe(0n)
    expect(sums.get('prov')).toBe(micros(net))
    expect(sums.get('esc')).toBe(0n)
    await market.buy(await market.list('human'), who)
  })

  test('calls are told by time and by endpoint; asking to pay is no error', async () => {
    const { buckets, bucket_seconds: seconds } = await look('series?span=hour')
    expect([buckets.length, seconds]).toEqual([60, 60])
    const sum = (of: (bucket: { calls: Record<string, number>; purchases: number }) => number | undefined) =>
      buckets.reduce((all: number, bucket: never) => all + (of(bucket) ?? 0), 0)
    expect(sum(({ purchases }) => purchases)).toBe(2)
    // Two, since one may end between the purchases.
    const { endpoints } = await look('endpoints?hours=2')
    const bought = endpoints.find(({ endpoint }: { endpoint: string }) => endpoint === 'purchaseService')
    expect(bought).toMatchObject({ method: 'POST', total: bought.calls.answered + bought.calls.asked_to_pay })
    expect(bought.calls.asked_to_pay).toBeGreaterThan(0)
    expect(sum(({ calls }) => calls.asked_to_pay)).toBeGreaterThanOrEqual(bought.calls.asked_to_pay)
    expect(bought.by_hour).toHaveLength(2)
    expect(bought.by_hour[0] + bought.by_hour[1]).toBe(bought.total)
    const sumOf = (amounts: readonly string[]) => amounts.reduce((sum, amount) => sum + amountOf(amount), 0n)
    expect(bought.sold.times).toBe(2)
    expect(sumOf(endpoints.map(({ sold }: { sold: { amount: string } }) => sold.amount))).toBe(
      sumOf(buckets.map(({ paid_in: paid }: { paid_in: string }) => paid)),
    )
    const { requests } = await look(`requests?request=${bought.slowest.request_id}`)
    expect(requests[0]).toMatchObject({ endpoint: 'purchaseService', status: bought.slowest.status })
  })

  test('the next day begins with nothing paid in, and with what is still held', async () => {
    const { held } = await look('river')
    await market.market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: DAY_MS } })
    expect(await look('river')).toMatchObject({ opening: held, held, paid_in: '0.00', sales: 0, agrees: true })
  })

  test('a week later they are compared with, by the clock of the business and after a restart', async () => {
    const sales = ({ buckets }: { buckets: { purchases: number }[] }) =>
      buckets.reduce((sum, { purchases }) => sum + purchases, 0)
    const bought = await market.buy(await market.list('human'), await market.agent())
    expect(bought.status).toBe(200)
    const since = await look(`series?since=${new Date(Date.now() - 10 * MINUTE_MS).toISOString()}`)
    expect([since.bucket_seconds, sales(since), since.week_ago]).toEqual([660, 1, undefined])
    await market.market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: 7 * DAY_MS } })
    for (const restart of [false, true]) {
      if (restart) await market.market.restart()
      const hour = await look('series?span=hour')
      expect([sales(hour), sales(hour.week_ago)]).toEqual([0, 1])
      // The market began on the day before that.
      expect(hour.week_ago.change).toEqual({ calls: null, purchases: -100, paid_in: -100 })
      expect((await look('series?span=week')).week_ago.change.purchases).toBeNull()
    }
  })
})

test('a ring of calls forgets what is older than it is long, and reckons durations within a step', () => {
  const ring = callRing(MINUTE_MS, 10)
  const start = 1_000 * MINUTE_MS
  for (let i = 0; i < 100; i += 1) ring.add(start, 'answered', i)
  ring.add(start + MINUTE_MS, 'broken', 5_000)
  const both = ring.sum(start + MINUTE_MS, 10)
  expect(both).toMatchObject({ total: 101, calls: { answered: 100, broken: 1 } })
  expect(both.p50).toBeGreaterThan(32)
  expect(both.p50).toBeLessThanOrEqual(64)
  expect(ring.sum(start + 10 * MINUTE_MS, 10)).toMatchObject({ total: 1, p95: expect.any(Number) })
  expect(ring.sum(start + 20 * MINUTE_MS, 10)).toMatchObject({ total: 0, p50: null, p95: null })
  ring.add(start + 20 * MINUTE_MS, 'answered', 1)
  ring.add(start, 'answered', 1)
  expect(ring.sum(start + 20 * MINUTE_MS, 10).total).toBe(1)
})

test('names that are no endpoint never make a row of their own', () => {
  const wall = 5 * DAY_MS + HOUR_MS / 2
  const calls = openCallFigures(() => wall, new Set(['getJob']))
  for (const endpoint of ['getJob', 'none', 'finished_page', 'whatever a stranger says']) {
    calls.add({ endpoint, status: 200, code: null, ms: 1, requestId: 'req_1' })
  }
  expect(calls.byEndpoint(24).map(({ endpoint }) => endpoint)).toEqual(['getJob'])
  expect(calls.within('minute', wall, 1).total).toBe(4)
  expect(calls.within('hour', wall, 1).total).toBe(4)
})

test.each([
  [200, null, 'answered'],
  [402, 'payment_required', 'asked_to_pay'],
  [404, 'not_found', 'refused'],
  [410, 'deferred', 'switched_off'],
  [503, 'paused', 'switched_off'],
  [503, 'unavailable', 'broken'],
  [500, null, 'broken'],
] as const)("%i %s counts as %s: an operator's own pause breaks nothing", (status, code, outcome) => {
  expect(outcomeOf({ status, code })).toBe(outcome)
})

test('a payment is counted once, with its answer; a period sells nothing, and hours pass', () => {
  let wall = 5 * DAY_MS
  let tell: (change: Change) => void = vi.fn()
  const store = {
    subscribe(listener: typeof tell) {
      tell = listener
      return vi.fn()
    },
  }
  const paid = openPaidFigures({ store, clock: { wall: () => wall } })
  const wrote = (row: object, isAnswered: boolean) => {
    const payment = { version: 3, id: 'pay', endpoint: 'discover', method: 'x402', ...row }
    const answer = { version: 1, id: 'pay' }
    const writes = [{ collection: 'payments', key: 'pay', row: payment }]
    tell({ seq: 1, writes: isAnswered ? [...writes, { collection: 'answers', key: 'pay', row: answer }] : writes })
  }
  wrote({ state: 'fulfilled', price: usdc(1_000n) }, true)
  wrote({ state: 'fulfilled', price: usdc(1_000n) }, false)
  wrote({ id: 'other', state: 'fulfilled', price: usdc(1_000n) }, true)
  wrote({ state: 'settled', price: usdc(1_000n) }, true)
  wrote({ state: 'fulfilled', price: usdc(0n), method: 'subscription' }, true)
  expect(paid.within('discover', 24)).toEqual({ times: 1, amount: 1_000n })
  wall += HOUR_MS
  wrote({ state: 'fulfilled', price: usdc(2_000n) }, true)
  expect([paid.within('discover', 1), paid.within('discover', 2)]).toEqual([
    { times: 1, amount: 2_000n },
    { times: 2, amount: 3_000n },
  ])
  wall += 23 * HOUR_MS
  expect(paid.within('discover', 24)).toEqual({ times: 1, amount: 2_000n })
  wall += 24 * HOUR_MS
  expect(paid.within('discover', 24)).toEqual({ times: 0, amount: 0n })
})

/** One payment and what becomes of it, as the features post it. */
const sale = fc.record({
  steps: fc.bigInt({ min: 1n, max: MAX_PRICE / PRICE_STEP }),
  isEscrowed: fc.boolean(),
  source: fc.constantFrom('ext', 'hold:p', 'bal:b'),
  buyerReferred: fc.boolean(),
  outcome: fc.constantFrom('open', 'release', 'refund', 'split'),
  share: fc.integer({ min: 0, max: 100 }),
})

test('whatever is bought, released, refunded and divided, the terms add up to what is held', () => {
  fc.assert(
    fc.property(fc.array(sale, { maxLength: 30 }), fc.bigInt({ min: 0n, max: 10n ** 12n }), (sales, opening) => {
      const flows = noFlows()
      let escrow = usdc(opening)
      const play = (kind: EntryKind, legs: Parameters<typeof linesOf>[0]) => {
        const lines = linesOf(legs)
        for (const { account: name, delta } of lines) if (name.startsWith('esc:')) escrow = usdc(escrow + delta)
        addFlows(flows, { kind, lines })
      }
      for (const [i, one] of sales.entries()) playSale(play, one, `job_${i}`)
      expect(heldAfter(usdc(opening), flows)).toBe(escrow)
      expect(flows.toEscrow + flows.atOnce).toBe(flows.byX402 + flows.byBalance)
      expect(opening + flows.toEscrow - flows.fromEscrow).toBe(escrow)
    }),
    { numRuns: 200 },
  )
})

type Sale = typeof sale extends fc.Arbitrary<infer S> ? S : never
type Play = (kind: EntryKind, legs: Parameters<typeof linesOf>[0]) => void

function playSale(play: Play, { steps, isEscrowed, source, buyerReferred, outcome, share }: Sale, jobId: string): void {
  const split = splitOf('third_party', usdc(steps * PRICE_STEP))
  const referrers = { buyer: buyerReferred ? 'r' : null, provider: null }
  const buyer = { participantId: 'b' }
  if (!isEscrowed) {
    play('instant_sale', legsOf.instantSale({ source, providerId: 's', split, referrers }))
    return
  }
  const amount: Usdc = split.agent
  play('escrow_hold', legsOf.escrowHold({ source, jobId, amount }))
  const escrowed = { jobId, providerId: 's', split, referrers }
  const toBuyer = usdc((amount * BigInt(share)) / 100n)
  if (outcome === 'release') play('escrow_release', legsOf.escrowRelease(escrowed))
  if (outcome === 'refund') play('refund', legsOf.escrowRefund({ jobId, buyer, amount }))
  if (outcome === 'split') play('dispute_split', legsOf.disputeSplit({ ...escrowed, buyer, toBuyer }))
  // What was paid and refused goes back: it neither came in nor went out.
  play('refund', [{ from: account.ext, to: 'rfd:0x1', amount }])
}
