import { afterEach, beforeEach, expect, test } from 'vitest'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { handClock, noTicks } from '../../../fixtures/kit/time.ts'
import { openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { BID_PRICE, openRequests, type Requests, wanted } from '../../../fixtures/market/postings.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { jobs } from '../jobs/rows.ts'

// @slow a stop at every step of an award

/* An award whose money moved while nobody could say so, and requests under a clock that is moved. */

let requests: Requests
let isLost = false
beforeEach(async () => {
  const chain = chainWith((real) => ({
    settle: async (...payment) => {
      const settled = await real.settle(...payment)
      return isLost ? { ok: false, failure: 'unavailable', sent: true } : settled
    },
  }))
  requests = await openRequests({ chain })
})
afterEach(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})

/** The answer of the chain is lost on the way: the payment is left as `settling`. */
async function lostAward() {
  const posting = await requests.post()
  const bid = await requests.bid(posting)
  const before = await requests.market.onChain(requests.poster)
  isLost = true
  const answer = await requests.award(posting, bid)
  isLost = false
  expect([answer.status, before - (await requests.market.onChain(requests.poster))]).toEqual([402, BID_PRICE.agent])
  return { posting, bid, before }
}

const jobsOf = async (posting: string) =>
  (await requests.market.ctx().store.table(jobs).page('newest', [], { limit: 100 })).rows.filter(
    ({ posting_id }) => posting_id === posting,
  )

test('what was paid for opens its job at the next start, once', async () => {
  const { posting, bid } = await lostAward()
  expect((await requests.posting(posting)).status).toBe('open')
  await requests.market.market.restart()
  await requests.market.market.restart()
  const [job, ...others] = await jobsOf(posting)
  expect([others, job?.amount, job?.status]).toEqual([[], BID_PRICE.agent, 'dispatched'])
  expect([(await requests.posting(posting)).status, (await requests.bidRow(bid)).status]).toEqual([
    'awarded',
    'accepted',
  ])
})

test('what was paid in time is awarded, though the time has run out meanwhile', async () => {
  const { posting } = await lostAward()
  requests.market.pass(31 * DAY_MS)
  await requests.market.market.restart()
  expect([(await requests.posting(posting)).status, (await jobsOf(posting)).length]).toEqual(['awarded', 1])
})

test.each<[string, (id: string) => Promise<unknown>]>([
  ['cancelled', (id) => requests.poster.call('POST', `/v1/postings/${id}/cancel`)],
  [
    'expired',
    async () => {
      requests.market.pass(31 * DAY_MS)
      await requests.runDue()
    },
  ],
])('what was %s first is paid back whole', async (status, happens) => {
  const { posting, before } = await lostAward()
  await happens(posting)
  await requests.market.market.restart()
  expect(await requests.market.faults()).toEqual([])
  expect([(await requests.posting(posting)).status, await jobsOf(posting)]).toEqual([status, []])
  expect(await requests.market.onChain(requests.poster)).toBe(before)
})

test('a moved clock stops where a request runs out, and tells the time of it', async () => {
  const start = Date.UTC(2026, 5, 1, 12, 0, 30)
  const market = await openMarketplace({ crons: true }, { clock: handClock(start), ticker: noTicks })
  try {
    const poster = await registered(market, { type: 'agent' })
    const deadline = new Date(start + 5 * HOUR_MS).toISOString()
    const { body } = await poster.call('POST', '/v1/postings', { ...wanted, deadline })
    await market.admin('POST', '/dashboard/api/admin/clock', { body: { advance_ms: 2 * DAY_MS } })
    const ended = (await market.call('GET', `/v1/postings/${body.id}`)).body
    expect([ended.status, Date.parse(ended.updated_at)]).toEqual(['expired', start + 5 * HOUR_MS + MINUTE_MS / 2])
  } finally {
    await market.close()
  }
})
