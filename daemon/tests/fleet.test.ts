import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fleet, openFleet, until } from '../../fixtures/kit/fleet.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { openProvider } from '../../fixtures/kit/provider.ts'
import { commandLineBuyer, publishedBuyer } from '../../fixtures/market/client-buyers.ts'
import { priced } from '../../fixtures/market/escrow.ts'
import type { Calls } from '../../fixtures/market/marketplace.ts'
import { payFor, registered, stranger } from '../../fixtures/market/people.ts'
import { expectAll, openBuyers } from '../../fixtures/market/steady-buyers.ts'

// @slow three daemons that die

/*
 * Three daemons of one database behind a proxy that hands connections to them in turn. They are killed, or restarted
 * one after the other, while buyers buy. A buyer repeats what was not answered, with the same payment.
 */

const COUNT = 3
const BUYERS = Number(process.env.SOUK_TEST_BUYERS ?? 8)
const KILLS = Number(process.env.SOUK_TEST_KILLS ?? 3)
/** Purchases between two kills, by all buyers. */
const BETWEEN = Number(process.env.SOUK_TEST_BETWEEN ?? 12)
/** Messages that wait in line when the leader is killed, and how long the endpoint takes for each. */
const ORDERS = 4
const HELD_MS = 300
const MINUTE_CHARS = 'YYYY-MM-DDTHH:MM'.length

let fleet: Fleet
let market: Calls

beforeAll(async () => {
  if (!hasPostgres()) return
  const { folder } = await testServer()
  fleet = await openFleet(`postgres://souk@/postgres?host=${folder}&schema=fleet${process.pid}`, COUNT, { crons: true })
  market = fleet.calls()
})
afterAll(() => fleet?.close())

describe.skipIf(!hasPostgres())('three daemons behind a proxy', () => {
  const all: string[] = []

  test('lose and double nothing while one after another is killed, the leader among them', async () => {
    const buyers = await openBuyers(market, BUYERS)
    for (let kill = 0; kill < KILLS; kill += 1) {
      await buyers.more(BETWEEN)
      // The leader is killed every other time; the others take turns.
      const led = await fleet.leader()
      const victim = kill % 2 === 0 ? led : (led + 1 + (kill % (COUNT - 1))) % COUNT
      await fleet.kill(victim)
      await buyers.more(BETWEEN)
      await fleet.start(victim)
    }
    await buyers.end()
    all.push(...buyers.jobs)
    expect(buyers.refusals.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([])
    await expectAll(fleet, all)
  })

  test('restart one after the other without an unanswered request, but for those that are told to come back', async () => {
    const own = await commandLineBuyer(fleet)
    const published = [await publishedBuyer(fleet, 1), await publishedBuyer(fleet, 2)]
    const buyers = await openBuyers(market, BUYERS, [...published, own.buy])
    for (let n = 0; n < COUNT; n += 1) {
      await buyers.more(BETWEEN)
      await fleet.stop(n)
      await fleet.start(n)
      await buyers.more(BETWEEN)
    }
    await buyers.end()
    await own.close()
    all.push(...buyers.jobs)
    expect(buyers.refusals.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([])
    await expectAll(fleet, all)
  })

  test('send each message from one daemon at a time, and run each cron once', async () => {
    const hook = await openProvider()
    hook.answer = () => sleep(HELD_MS, { status: 202 })
    const provider = await registered(market, { type: 'provider', webhook_url: hook.url })
    const listed = await provider.call('POST', '/v1/services', { ...priced, fulfillment_type: 'human' })
    const path = `/v1/services/${listed.body.id}/purchase`
    const { account } = await stranger(market, '100.00')
    const bought: string[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const led = await fleet.leader()
      for (let n = 0; n < ORDERS; n += 1) {
        const { body } = await payFor(fleet.calls(led), account, { path, body: {} })
        bought.push(body.job_id)
      }
      await fleet.kill(led)
      await fleet.start(led)
    }
    await until(async () => bought.every((id) => hook.received.some(({ body }) => body.job_id === id)))
    await hook.close()
    expect(hook.most()).toBe(1)
    const { body } = await fleet.calls(await fleet.leader()).admin('GET', '/dashboard/api/admin/crons')
    const minutely: { runs: { at: string }[] }[] = body.crons.filter(
      ({ interval_seconds }: { interval_seconds: number }) => interval_seconds === 60,
    )
    expect(minutely.flatMap(({ runs }) => runs).length).toBeGreaterThan(0)
    for (const { runs } of minutely) {
      const minutes = runs.map(({ at }) => at.slice(0, MINUTE_CHARS))
      expect(new Set(minutes).size).toBe(minutes.length)
    }
  })
})
