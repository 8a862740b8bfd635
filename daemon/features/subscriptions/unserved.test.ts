import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { periodStart } from './periods.ts'
import { unservedPeriods } from './rows.ts'
import { adjustmentOf } from './unserved.ts'

let market: Plans
beforeAll(async () => {
  market = await openPlans()
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const END = periodStart(START, 'monthly', 1)

async function suspend(suspended: boolean): Promise<void> {
  const path = `/dashboard/api/admin/participants/${market.provider.id}`
  const answer = await market.market.admin('PUT', path, { body: { suspended, reason: 'test' } })
  if (answer.status !== 200) throw new Error(answer.text)
}

test('a suspension does not take a paid period away unseen: it is offered as an adjustment, and nothing is renewed', async () => {
  const who = await market.agent()
  const id = await market.subscribed(await market.plan([await market.list('human')]), who)
  const items = async () => (await market.ctx().store.table(unservedPeriods).page('open', [], { limit: 10 })).rows
  market.at(START + DAY_MS)
  await suspend(true)
  await suspend(true)
  market.at(START + 3 * DAY_MS)
  await suspend(false)
  market.at(START + 5 * DAY_MS)
  await suspend(true)
  const [item, ...others] = await items()
  if (!item) throw new Error('nothing is offered')
  expect([others, item.subscription_id, item.participant_id]).toEqual([[], id, who.id])
  const lost = 2 * DAY_MS + (END - START - 5 * DAY_MS)
  expect(adjustmentOf(item, END + DAY_MS)).toBe((PERIOD.agent * BigInt(lost)) / BigInt(END - START))
  const metrics = await market.market.admin('GET', '/metrics')
  expect(metrics.text).toContain('souk_attention_items{kind="unserved_period"} 1')
  market.at(END)
  await market.renew()
  expect(await market.row(id)).toMatchObject({ status: 'paused', charges: 1 })
  await suspend(false)
})

test('an adjustment is never more than what was paid for the period', () => {
  const moment = fc.integer({ min: 0, max: 2_000 })
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 10n), moment, moment, (paid, since, now) => {
      const row = { id: 'x', version: 1, subscription_id: 's', provider_id: 'p', participant_id: 'q', open: true }
      const period = { period_start: 0, period_end: 1_000, lost_ms: 0, opened_at: 0 }
      const offered = adjustmentOf({ ...row, ...period, paid: usdc(paid), since }, now)
      expect(offered >= 0n && offered <= paid).toBe(true)
    }),
  )
})
