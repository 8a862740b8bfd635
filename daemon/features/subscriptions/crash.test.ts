import { afterAll, beforeAll, expect, test } from 'vitest'
import { crashAtEachStep, sides } from '../../../fixtures/kit/crash.ts'
import { credit } from '../../../fixtures/kit/money.ts'
import { openPlans, PERIOD, type Plans } from '../../../fixtures/market/plans.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { subscriptions as cron } from './subscriptions.ts'

// @slow a crash at every step

let market: Plans
let service: string
let plan: string
let now: number
beforeAll(async () => {
  market = await openPlans()
  now = market.ctx().clock.now()
  service = await market.list('human')
  plan = await market.plan([service])
})
afterAll(() => market.close())

function set(at: number): void {
  now = at
  market.at(at)
}

/** What a run finds: one subscription for each thing that it does, all due. */
async function arrange() {
  const begin = async (of: string, periods: number) => {
    const who = await market.agent()
    const id = await market.subscribed(of, who)
    for (let paid = 0; paid < periods; paid += 1) await credit(market.market, who.id, '1.05')
    const act = (name: string, body: object = {}) => who.call('POST', `/v1/subscriptions/${id}/${name}`, body)
    return { who, id, act }
  }
  const gone = await market.plan([service])
  // One that was tried twice, three days before the others fall due.
  const failing = await begin(plan, 0)
  const { current_period_end: first } = await market.row(failing.id)
  set(first)
  await market.renew()
  set(first + DAY_MS)
  await market.renew()
  set(first + 2 * DAY_MS)
  await market.renew()
  const [rich, poor, leaving, resting, orphan, back] = [
    await begin(plan, 3),
    await begin(plan, 0),
    await begin(plan, 3),
    await begin(plan, 3),
    await begin(gone, 3),
    await begin(plan, 3),
  ]
  await leaving.act('cancel')
  await resting.act('pause')
  await back.act('pause')
  await market.provider.call('DELETE', `/v1/plans/${gone}`)
  set((await market.row(rich.id)).current_period_end)
  await back.act('resume')
  await market.ctx().store.durable()
  return { all: [failing, rich, poor, leaving, resting, orphan, back], earned: await market.earned() }
}

test.each(sides)('the cron may die %s any of its steps: each period is charged once', async (side) => {
  const steps = await crashAtEachStep(cron, market.ctx(), {
    side,
    arrange,
    async check({ all, earned }) {
      const rows = await Promise.all(all.map(({ id }) => market.row(id)))
      expect(rows.map(({ status, charges, failures }) => [status, charges, failures])).toEqual([
        ['expired', 1, 4],
        ['active', 2, 0],
        ['past_due', 1, 1],
        ['canceled', 1, 0],
        ['paused', 1, 0],
        ['canceled', 1, 0],
        ['active', 2, 0],
      ])
      const balances = await Promise.all(all.map(({ who }) => market.balance(who)))
      expect(balances.map((balance) => balance / PERIOD.agent)).toEqual([0n, 2n, 0n, 3n, 3n, 3n, 2n])
      expect((await market.earned()) - earned).toBe(2n * PERIOD.net)
      // What goes on would be due again beside those of the next scene.
      for (const { act, id } of all) if ((await market.row(id)).live) await act('cancel', { at_period_end: false })
      set(now + DAY_MS)
    },
  })
  expect(steps).toBe(7)
  expect(await market.faults()).toEqual([])
})
