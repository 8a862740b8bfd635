import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { type Escrow, openEscrow, priced } from '../../../fixtures/market/escrow.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import type { waitingReasons } from '../../../src/api/sections/earnings.ts'
import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { providerSettlement } from '../payouts/provider-settlement.ts'

/* Why a provider's money waits: each cent under one reason, and the reason is the one that holds it. */

type Reason = (typeof waitingReasons)[number]
type Waits = { reason: Reason; amount_usd: number; sales: number; until: string | null }

let market: Escrow
let buyer: Person
let seller: Person
let service: string
let held: string
const sanctioned = new Set<Wallet>()
beforeAll(async () => {
  market = await openEscrow({ isSanctioned: async (wallet) => sanctioned.has(wallet) })
  buyer = await registered(market.market, { type: 'agent' })
  seller = await registered(market.market, { type: 'provider', webhook_url: market.hook.url })
  const list = async (kind: string) =>
    (await seller.call('POST', '/v1/services', { ...priced, fulfillment_type: kind })).body.id as string
  service = await list('automated')
  held = await list('human')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const earnings = async () => (await seller.call('GET', '/v1/provider/earnings')).body
const admin = async (method: 'PUT' | 'POST', path: string, body?: object) => {
  const { status } = await market.market.admin(method, `/dashboard/api/admin/${path}`, body ? { body } : {})
  expect(status).toBe(200)
}
const PURCHASES_OF_ONE = 8
let bought = 0
/** By somebody who has money left. */
async function buy(id: string): Promise<string> {
  bought += 1
  if (bought % PURCHASES_OF_ONE === 0) buyer = await registered(market.market, { type: 'agent' })
  const { status, body } = await market.buy(id, buyer)
  expect(status).toBe(200)
  return body.job_id
}
const deliver = (job: string) =>
  seller.call('POST', `/v1/jobs/${job}/update`, { status: 'completed', deliverables: { words: 1 } })

/** Everything that happens to a provider's money, and what lets it go on again. */
const acts: Readonly<Record<string, () => Promise<unknown>>> = {
  undelivered: () => buy(held),
  in_review: async () => deliver(await buy(held)),
  disputed: async () => {
    const job = await buy(held)
    await deliver(job)
    const said = await buyer.pay(`/v1/jobs/${job}/dispute`, { body: { reason: 'No.', category: 'quality' } })
    expect(said).toMatchObject({ status: 200 })
  },
  release_due: async () => deliver(await buy(service)),
  released: async () => {
    await deliver(await buy(service))
    market.pass(HOUR_MS)
    await market.monitor()
  },
  review_over: async () => {
    market.pass(3 * DAY_MS)
    await market.monitor()
  },
  settle: () => runOf(providerSettlement, market.ctx()),
}
const blocks: Readonly<Record<string, readonly [on: () => unknown, off: () => unknown]>> = {
  paused: [() => admin('POST', 'platform/pause', { reason: 'x' }), () => admin('POST', 'platform/unpause')],
  settlement_paused: [
    () => admin('POST', 'crons/provider-settlement/pause'),
    () => admin('POST', 'crons/provider-settlement/resume'),
  ],
  suspended: [
    () => admin('PUT', `participants/${seller.id}`, { suspended: true, reason: 'x' }),
    () => admin('PUT', `participants/${seller.id}`, { suspended: false, reason: 'x' }),
  ],
  sanctioned: [
    () => sanctioned.add(toWallet(seller.account.address)),
    () => sanctioned.delete(toWallet(seller.account.address)),
  ],
}

const micro = (usd: number) => Math.round(usd * 1_000_000)
function checkWhole({ held_usd, pending_usd, waiting, next_settlement_at }: Awaited<ReturnType<typeof earnings>>) {
  const sum = waiting.reduce((total: number, one: Waits) => total + micro(one.amount_usd), 0)
  expect(sum).toBe(micro(held_usd) + micro(pending_usd))
  expect(new Set(waiting.map((one: Waits) => one.reason)).size).toBeLessThanOrEqual(waiting.length)
  const scheduled = waiting.find((one: Waits) => one.reason === 'scheduled')
  expect(next_settlement_at).toBe(scheduled?.until ?? null)
}

test('whatever happens, what waits is what is held and what is pending, to the cent', async () => {
  const step = fc.tuple(
    fc.constantFrom(...Object.keys(acts)),
    fc.option(fc.constantFrom('settlement_paused', 'sanctioned'), { nil: undefined }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      for (const [act, block] of steps) {
        const [on, off] = (block && blocks[block]) ?? []
        await acts[act]?.()
        await on?.()
        checkWhole(await earnings())
        if (block === 'sanctioned') await acts.settle?.()
        checkWhole(await earnings())
        await off?.()
        checkWhole(await earnings())
      }
    }),
    { numRuns: 12 },
  )
})

test('each reason is told with its sum, and with the time at which it ends by itself', async () => {
  for (const name of ['undelivered', 'in_review', 'disputed', 'release_due']) {
    await acts[name]?.()
    const { waiting } = await earnings()
    expect(waiting).toContainEqual(expect.objectContaining({ reason: name, sales: expect.any(Number) }))
    const { until, sales } = waiting.find((one: Waits) => one.reason === name)
    expect([name, sales > 0, until === null]).toEqual([name, true, name === 'disputed'])
  }
  await acts.released?.()
  const { next_settlement_at, waiting } = await earnings()
  const now = market.ctx().clock.now()
  expect(Date.parse(next_settlement_at)).toBeGreaterThan(now)
  expect(Date.parse(next_settlement_at) - now).toBeLessThanOrEqual(HOUR_MS)
  expect(waiting.map((one: Waits) => one.reason)).toContain('scheduled')
})

test.each(Object.keys(blocks))('while it is %s nothing is scheduled, and that is why', async (name) => {
  const [on, off] = blocks[name] ?? []
  await acts.released?.()
  await on?.()
  // Whoever is suspended may read what is theirs.
  const { next_settlement_at, waiting } = await earnings()
  await off?.()
  expect([next_settlement_at, waiting.map((one: Waits) => one.reason)]).toEqual([null, expect.arrayContaining([name])])
  expect(waiting.map((one: Waits) => one.reason)).not.toContain('scheduled')
  expect((await earnings()).next_settlement_at).not.toBeNull()
})
