import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/time.ts'
import { tallies } from './rows.ts'
import { openTally } from './tally.ts'

let market: Marketplace
beforeAll(async () => {
  market = await openMarketplace()
})
afterAll(() => market.close())

describe('the tally of the last day', () => {
  const opened = (clock: { now: () => number }) => openTally({ store: market.daemon.ctx.store, clock })

  test.each([
    { after: 0, counted: { a: 2, b: 1 } },
    { after: DAY_MS - HOUR_MS, counted: { a: 2, b: 1 } },
    { after: DAY_MS, counted: {} },
  ])('holds $counted after $after ms', async ({ after, counted }) => {
    let now = 1_000 * DAY_MS
    const tally = await opened({ now: () => now })
    for (const name of ['a', 'b', 'a']) tally.add('refusals', name)
    tally.add('others', 'a')
    now += after
    expect(tally.lastDay('refusals')).toEqual(counted)
  })

  test('names that strangers choose are bounded', async () => {
    const tally = await opened({ now: () => 0 })
    for (let i = 0; i < 1_000; i += 1) tally.add('agents', `agent ${i}`)
    const counts = tally.lastDay('agents')
    expect([Object.keys(counts).length, counts['other']]).toEqual([201, 800])
  })

  test('what was saved is there for the next one, and old hours leave the store', async () => {
    let now = 2_000 * DAY_MS
    const clock = { now: () => now }
    const first = await opened(clock)
    first.add('refusals', 'a')
    await first.save()
    expect((await opened(clock)).lastDay('refusals')).toEqual({ a: 1 })
    now += DAY_MS
    first.add('refusals', 'b')
    await first.save()
    expect((await opened(clock)).lastDay('refusals')).toEqual({ b: 1 })
    expect(await market.daemon.ctx.store.table(tallies).get(String(2_000 * 24))).toBeUndefined()
  })
})

test('the counts of health survive a restart', async () => {
  await market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: true } })
  const agent = { 'User-Agent': 'crawler/1.0' }
  expect((await market.call('POST', '/v1/balance/deposit', { headers: agent })).status).toBe(410)
  await market.restart()
  const { launch } = (await market.call('GET', '/health')).body
  expect(launch.shelved_410_24h.prepaid_balance).toEqual({ crawler: 1 })
})
