import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit } from '../../../fixtures/kit/money.ts'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { commit } from '../../store/draw.ts'
import { notePause } from './pauses.ts'
import { periodStart } from './periods.ts'
import { unservedPeriods } from './rows.ts'
import { adjustmentOf, afterSettling } from './unserved.ts'

// @story one subscription over its periods

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

test('what was made good is closed once, and what goes by later is offered anew', async () => {
  const who = await market.agent()
  await market.subscribed(await market.plan([await market.list('human')]), who)
  const read = async () =>
    (await market.ctx().store.table(unservedPeriods).page('open', [], { limit: 10 })).rows.find(
      (row) => row.participant_id === who.id,
    )
  const adjust = (settles: string, id = who.id) =>
    market.market.admin('POST', `/dashboard/api/admin/participants/${id}/adjust`, {
      body: { amount: '0.01', reason: 'not served', settles },
    })
  // The operator has to have something to give.
  const rich = await market.agent('10.00')
  await market.market.admin('POST', `/dashboard/api/admin/participants/${rich.id}/adjust`, {
    body: { amount: '-5.00', reason: 'for the test' },
  })
  const begun = market.ctx().clock.now()
  await suspend(true)
  market.at(begun + DAY_MS)
  const item = await read()
  if (!item) throw new Error('nothing is offered')
  expect((await adjust(item.id, market.provider.id)).status).toBe(404)
  expect((await adjust(item.id)).status).toBe(200)
  market.at(begun + 2 * DAY_MS)
  const after = await read()
  expect(after && [after.lost_ms, after.since]).toEqual([0, begun + DAY_MS])
  await suspend(false)
  expect((await adjust(item.id)).status).toBe(200)
  expect(await read()).toBeUndefined()
  expect((await adjust(item.id)).status).toBe(409)
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

test('however often a period is made good, all of it together is never more than what was paid', () => {
  const times = fc.array(fc.integer({ min: 0, max: 1_200 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 10n), fc.integer({ min: 0, max: 999 }), times, (paid, begun, asked) => {
      const who = { id: 'x', version: 1, subscription_id: 's', provider_id: 'p', participant_id: 'q' }
      const period = { period_start: 0, period_end: 1_000, lost_ms: 0, opened_at: begun, open: true }
      let row: Parameters<typeof adjustmentOf>[0] = { ...who, ...period, paid: usdc(paid), since: begun }
      let given = 0n
      for (const now of asked.filter((at) => at >= begun).toSorted((one, two) => one - two)) {
        if (!row.open) break
        given += adjustmentOf(row, now)
        row = { ...row, ...afterSettling(row, now) }
      }
      expect(given * 1_000n <= paid * BigInt(1_000 - begun)).toBe(true)
    }),
  )
})

test('a pause of the platform across the end of a period charges for no closed day, also after a crash', async () => {
  const who = await market.agent()
  market.at(START)
  const id = await market.subscribed(await market.plan([await market.list('human')]), who)
  await credit(market.market, who.id, '1.05')
  const left = 10 * DAY_MS
  const [from, to] = [END - left, END + 5 * DAY_MS]
  await market.switches({ paused_at: from })
  market.at(to)
  // It died between the unpause and the giving back.
  await market.switches({ paused_at: null })
  await commit(market.ctx(), (t) => notePause(t, { from, to }))
  const renewedAt = async (at: number) => {
    market.at(at)
    await market.renew()
    return market.row(id)
  }
  expect(await renewedAt(to)).toMatchObject({ status: 'active', charges: 1, current_period_end: to + left })
  expect(await renewedAt(to + left - 1)).toMatchObject({ charges: 1 })
  const [start, end] = [to + left, periodStart(to + left, 'monthly', 1)]
  const next = { charges: 2, current_period_start: start, current_period_end: end }
  expect(await renewedAt(start)).toMatchObject(next)
})
