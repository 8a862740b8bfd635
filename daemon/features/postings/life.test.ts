import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { BID, BID_PRICE, openRequests, type Requests, wanted } from '../../../fixtures/market/postings.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { account } from '../ledger/legs.ts'
import { deliveryWorker } from '../webhooks/worker.ts'

let requests: Requests
let rival: Person
let rivalService: string
beforeAll(async () => {
  requests = await openRequests()
  rival = await registered(requests.market.market, { type: 'provider' })
  const listed = await rival.call('POST', '/v1/services', {
    name: 'Rival',
    description: 'Also does it.',
    price: '1.00',
    fulfillment_type: 'human',
  })
  rivalService = listed.body.id
})
afterAll(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})

const call = (path: string) => requests.market.market.call('GET', path)

describe.each(['x402', 'balance'] as const)('paid by %s', (from) => {
  test('a request is made, bid on, awarded, delivered and paid', async () => {
    const { market, poster } = requests
    const id = await requests.post()
    expect((await call(`/v1/postings/${id}`)).body).toMatchObject({
      id,
      posting_id: id,
      poster_id: poster.id,
      title: wanted.title,
      brief: wanted.brief,
      category: 'other',
      budget_min_usd: 0,
      budget_max_usd: 20,
      deadline: null,
      status: 'open',
      is_subcontract: false,
      bid_count: 0,
    })
    const won = await requests.bid(id)
    const lost = await requests.bid(id, { service_id: rivalService, price_usd: '9.50' }, rival)
    const { body } = await poster.call('GET', `/v1/postings/${id}/bids`)
    expect(body).toMatchObject({ total: 2, limit: 20, offset: 0 })
    expect(body.bids[0]).toMatchObject({ bid_id: won, ...BID, agent_price_usd: 8.4, status: 'submitted' })
    const before = await market.booked(account.provider(market.provider.id))

    const awarded = await requests.award(id, won, { from })
    expect(awarded.body).toMatchObject({ posting_id: id, bid_id: won, status: 'dispatched', amount: '8.40' })
    const job = await market.job(awarded.body.job_id)
    expect(job).toMatchObject({
      posting_id: id,
      input: wanted.brief,
      provider_amount: BID_PRICE.net,
      status: 'dispatched',
    })
    expect(job.deadline_at).toBe(job.created_at + 3 * DAY_MS)
    expect(await market.escrowed(job.id)).toBe(BID_PRICE.agent)
    expect([(await requests.bidRow(won)).status, (await requests.bidRow(lost)).status]).toEqual([
      'accepted',
      'rejected',
    ])
    expect((await call(`/v1/postings/${id}`)).body).toMatchObject({ status: 'awarded', bid_count: 2 })
    await deliveryWorker.of(market.ctx()).idle()
    const dispatch = market.hook.received.find((one) => one.body.job_id === job.id)
    expect(dispatch?.body).toMatchObject({ type: 'job_dispatch', posting_id: id, brief: wanted.brief })

    await market.provider.call('POST', `/v1/jobs/${job.id}/update`, { status: 'completed', deliverables: { a: 1 } })
    await poster.pay(`/v1/jobs/${job.id}/verify`, { body: {} })
    expect((await call(`/v1/postings/${id}`)).body.status).toBe('completed')
    expect((await market.booked(account.provider(market.provider.id))) - before).toBe(BID_PRICE.net)
    expect(await market.faults()).toEqual([])
  })

  test('a job that is refunded cancels its request', async () => {
    const { market } = requests
    const id = await requests.post()
    const { body } = await requests.award(id, await requests.bid(id), { from })
    await market.provider.call('POST', `/v1/jobs/${body.job_id}/update`, { status: 'failed' })
    expect((await requests.posting(id)).status).toBe('cancelled')
    expect(await market.escrowed(body.job_id)).toBe(0n)
    expect(await market.faults()).toEqual([])
  })
})

test('one that nobody awards is expired when its time has run out, before any cron and after it', async () => {
  const deadline = new Date(requests.market.ctx().clock.now() + HOUR_MS).toISOString()
  const id = await requests.post({ deadline })
  const bid = await requests.bid(id)
  requests.market.pass(HOUR_MS)
  const seen = async () => {
    const { body } = await requests.poster.call('GET', `/v1/postings/${id}/bids`)
    const listed = async (status: string) =>
      (await call(`/v1/postings?status=${status}&limit=100`)).body.postings.some((one: { id: string }) => one.id === id)
    const shown = (await call(`/v1/postings/${id}`)).body.status
    return [shown, body.bids[0].status, await listed('open'), await listed('expired')]
  }
  expect((await requests.posting(id)).status).toBe('open')
  expect(await seen()).toEqual(['expired', 'rejected', false, true])
  const refused = await requests.award(id, bid)
  expect([refused.status, refused.body.code, refused.body.from]).toEqual([409, 'invalid_transition', 'expired'])
  await requests.runDue()
  expect((await requests.posting(id)).status).toBe('expired')
  expect((await requests.bidRow(bid)).status).toBe('rejected')
  expect(await seen()).toEqual(['expired', 'rejected', false, true])
})
