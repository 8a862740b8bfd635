import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Escrow, openEscrow } from '../../../fixtures/market/escrow.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

// @story a week of sales

/* How listings sell is what happened to their jobs, whether it was read from the store or seen as it came. */

let market: Escrow
beforeAll(async () => {
  market = await openEscrow({}, { crons: false })
})
afterAll(() => market.close())

const admin = async (method: 'GET' | 'POST', path: string, body?: object) => {
  const answer = await market.market.admin(method, `/dashboard/api/admin/${path}`, body === undefined ? {} : { body })
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  return answer.body
}
const sellingOf = async (id: string) => (await admin('GET', `services?filter=id:${id}`)).services[0].selling
const payees = async (query = '') => (await admin('GET', `payees${query}`)).payees
const soldBySeller = async () => (await payees())[0].sold
const ended = async () => (await admin('GET', 'river')).ended

test('what is bought, released and given back is counted once each, and forgotten after a week', async () => {
  const service = await market.list('human')
  const other = await market.list('human')
  const who = await market.agent()
  const jobs: string[] = []
  // Before anybody asked: these are read; what comes later is seen as it comes.
  for (let i = 0; i < 2; i += 1) jobs.push((await market.buy(service, who)).body.job_id)
  expect(await sellingOf(service)).toMatchObject({ sold: 2, refunded: 0, by_day: [0, 0, 0, 0, 0, 0, 2] })
  expect(await soldBySeller()).toBe('1.00')
  jobs.push((await market.buy(service, who)).body.job_id)
  expect(await ended()).toEqual({ good: 0, failed: 0, refunded: 0 })

  await admin('POST', `jobs/${jobs[0]}/emergency-withdraw`, { reason: 'the provider is gone' })
  const done = { status: 'completed', deliverables: { words: 3 } }
  expect((await market.provider.call('POST', `/v1/jobs/${jobs[1]}/update`, done)).status).toBe(200)
  expect((await who.pay(`/v1/jobs/${jobs[1]}/verify`, { body: { rating: 5 } })).status).toBe(200)
  const late = { status: 'failed', notes: 'the page is gone' }
  expect((await market.provider.call('POST', `/v1/jobs/${jobs[2]}/update`, late)).status).toBe(200)
  expect(await sellingOf(service)).toMatchObject({ sold: 3, refunded: 2 })
  expect(await soldBySeller()).toBe('0.50')
  expect(await payees('?filter=sold:>0&sort=-sold&limit=3')).toMatchObject([{ sold: '0.50' }])
  expect(await payees('?filter=sold:>0.50')).toEqual([])
  expect(await ended()).toEqual({ good: 1, failed: 1, refunded: 1 })
  expect(await sellingOf(other)).toMatchObject({ sold: 0, refunded: 0 })

  const best = await admin('GET', 'services?sort=-sold&limit=1')
  expect(best.services[0].id).toBe(service)
  await admin('POST', 'clock', { advance_ms: 2 * DAY_MS })
  expect(await sellingOf(service)).toMatchObject({ sold: 3, by_day: [0, 0, 0, 0, 3, 0, 0] })
  expect(await soldBySeller()).toBe('0.50')
  expect(await ended()).toEqual({ good: 0, failed: 0, refunded: 0 })
  await admin('POST', 'clock', { advance_ms: 6 * DAY_MS })
  expect(await sellingOf(service)).toMatchObject({ sold: 0, refunded: 0, by_day: [0, 0, 0, 0, 0, 0, 0] })
  expect(await soldBySeller()).toMatch(/^0(\.0+)?$/)
})

test('the latest try at an endpoint is told with its time and how often it failed', async () => {
  const service = await market.list('automated')
  expect((await sellingOf(service)).last_call).toBeNull()
  const bought = await market.buy(service, await market.agent())
  expect(bought.status).toBe(200)
  await deliveryWorker.of(market.ctx()).idle()
  const { deliveries } = await admin('GET', `webhooks?filter=${bought.body.job_id}`)
  const [last] = deliveries[0].attempts.toReversed()
  const failures = last.error === null ? 0 : deliveries[0].attempts.length
  expect((await sellingOf(service)).last_call).toEqual({
    at: last.at,
    status: last.status,
    ms: last.latency_ms,
    failures,
  })
})
