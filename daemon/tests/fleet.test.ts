import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fleet, openFleet } from '../../fixtures/kit/fleet.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import type { Calls } from '../../fixtures/market/marketplace.ts'
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

let fleet: Fleet
let market: Calls

beforeAll(async () => {
  if (!hasPostgres()) return
  const { folder } = await testServer()
  fleet = await openFleet(`postgres://souk@/postgres?host=${folder}&schema=fleet${process.pid}`, COUNT)
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
    const buyers = await openBuyers(market, BUYERS)
    for (let n = 0; n < COUNT; n += 1) {
      await buyers.more(BETWEEN)
      await fleet.stop(n)
      await fleet.start(n)
      await buyers.more(BETWEEN)
    }
    await buyers.end()
    all.push(...buyers.jobs)
    expect(buyers.refusals.filter(({ headers }) => headers.get('retry-after') === null)).toEqual([])
    await expectAll(fleet, all)
  })
})
