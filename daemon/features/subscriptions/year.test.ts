import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { account } from '../ledger/legs.ts'
import { periodStart } from './periods.ts'

// @story one year, month by month

/* A year of plans that begin on 31 January, under the clock of the test marketplace. */

let market: Plans
let service: string
beforeAll(async () => {
  market = await openPlans({}, { crons: true })
  service = await market.list('automated')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const clock = (body: object) => market.market.admin('POST', '/dashboard/api/admin/clock', { body })
const day = (at: number) => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)

describe('a year', () => {
  test('of a monthly plan begun on 31 January is charged on the last day of each shorter month', async () => {
    const who = await market.agent('300.00')
    const { body } = await market.subscribe(await market.plan([service]), who)
    const annual = await market.subscribe(
      await market.plan([service], { billing_period: 'annual', price: '50.00' }),
      who,
    )
    const moved = await clock({ set: new Date(Date.UTC(2028, 1, 1)).toISOString() })
    expect(moved.status).toBe(200)
    const charges = await market.charges(body.id)
    expect(charges.map(({ kind, at }) => [kind, day(at)])).toEqual([
      ['subscription', '2027-01-31'],
      ['renewal', '2027-02-28'],
      ['renewal', '2027-03-31'],
      ['renewal', '2027-04-30'],
      ['renewal', '2027-05-31'],
      ['renewal', '2027-06-30'],
      ['renewal', '2027-07-31'],
      ['renewal', '2027-08-31'],
      ['renewal', '2027-09-30'],
      ['renewal', '2027-10-31'],
      ['renewal', '2027-11-30'],
      ['renewal', '2027-12-31'],
      ['renewal', '2028-01-31'],
    ])
    expect(await market.row(body.id)).toMatchObject({
      status: 'active',
      charges: 13,
      anchor_at: START,
      current_period_start: periodStart(START, 'monthly', 12),
      current_period_end: Date.UTC(2028, 1, 29, 9, 30),
    })
    // Each at the very time it falls due: the schedule has a run then.
    expect(charges.map(({ at }) => at)).toEqual(charges.map((_, number) => periodStart(START, 'monthly', number)))
    const yearly = await market.charges(annual.body.id)
    expect(yearly.map(({ at }) => day(at))).toEqual(['2027-01-31', '2028-01-31'])
    expect(await market.balance(who)).toBe(300_000_000n - 13n * PERIOD.agent - 2n * 52_500_000n)
    const lines = [...charges, ...yearly].flatMap((row) => row.lines)
    const earned = lines.filter((line) => line.account === account.provider(market.provider.id))
    expect(earned.reduce((sum, { delta }) => sum + delta, 0n)).toBe(13n * PERIOD.net + 2n * 50_000_000n)
  })

  test('that the daemon slept through is charged once, for a period from then on', async () => {
    const now = market.ctx().clock.now()
    const who = await market.agent('200.00')
    const { body } = await market.subscribe(await market.plan([service]), who)
    await market.switches({ paused_at: now })
    await clock({ advance_ms: 365 * DAY_MS })
    expect(await market.row(body.id)).toMatchObject({ status: 'active', charges: 1, failures: 0 })
    await market.switches({ paused_at: null })
    const then = market.ctx().clock.now()
    await market.renew()
    expect((await market.charges(body.id)).map(({ kind }) => kind)).toEqual(['subscription', 'renewal'])
    expect(await market.row(body.id)).toMatchObject({
      status: 'active',
      anchor_at: then,
      current_period_start: then,
      current_period_end: periodStart(then, 'monthly', 1),
    })
  })
})
