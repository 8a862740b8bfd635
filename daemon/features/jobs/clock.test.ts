import { afterAll, beforeAll, expect, test } from 'vitest'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'

/* With the real crons: a clock that is moved goes through what falls due on the way. */

let market: Escrow
let who: Person
let human: string
beforeAll(async () => {
  market = await openEscrow({ ticker: noTicks }, { crons: true })
  who = await market.agent({ balance: '10.00' })
  human = await market.list('human')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const update = (id: string, body: object) => market.provider.call('POST', `/v1/jobs/${id}/update`, body)
const advance = async (ms: number) => {
  const moved = await market.market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: ms } })
  expect(moved.status).toBe(200)
}
const timeline = async (id: string) => {
  const { timeline: entries, created_at } = await market.job(id)
  return entries.map(({ at, event }) => [event, Math.max(0, Math.round((at - created_at) / HOUR_MS))])
}

test('each job has its events at their times, however far the clock jumps', async () => {
  const ids = []
  for (let count = 0; count < 3; count += 1) {
    ids.push((await market.buy(human, who, { from: 'balance' })).body.job_id as string)
  }
  const [undelivered, delivered, disputed] = ids as [string, string, string]
  for (const id of [delivered, disputed]) await update(id, { status: 'completed', deliverables: {} })
  await who.pay(`/v1/jobs/${disputed}/dispute`, { body: { reason: 'x', category: 'quality' } })
  await advance(30 * DAY_MS)
  expect(await timeline(undelivered)).toEqual([
    ['paid', 0],
    ['dispatched', 0],
    ['expired', 24],
  ])
  expect(await timeline(delivered)).toEqual([
    ['paid', 0],
    ['dispatched', 0],
    ['completed', 0],
    ['verified', 48],
    ['released', 48],
  ])
  expect(await timeline(disputed)).toEqual([
    ['paid', 0],
    ['dispatched', 0],
    ['completed', 0],
    ['disputed', 0],
  ])
})

test('a deadline in a pause is moved with it', async () => {
  const { body } = await market.buy(human, who, { from: 'balance' })
  const admin = (act: string) => market.market.admin('POST', `/dashboard/api/admin/platform/${act}`)
  await advance(12 * HOUR_MS)
  await admin('pause')
  await advance(2 * DAY_MS)
  await admin('unpause')
  await advance(11 * HOUR_MS)
  expect((await market.job(body.job_id)).status).toBe('dispatched')
  await advance(3 * HOUR_MS)
  expect((await timeline(body.job_id)).slice(2)).toEqual([
    ['deadline_extended', 60],
    ['expired', 72],
  ])
})
