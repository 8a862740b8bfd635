import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dump } from '../../../fixtures/market/job-states.ts'
import { type Person, registered, stranger } from '../../../fixtures/market/people.ts'
import { BID, openRequests, type Requests, wanted } from '../../../fixtures/market/postings.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { participants } from '../../kernel/rows.ts'
import { deliveryWorker } from '../webhooks/worker.ts'
import { MAX_BIDS_PER_PROVIDER } from './bid.ts'
import { MAX_BRIEF_BYTES, MAX_OPEN_POSTINGS, POSTING_LIFE_MS } from './routes.ts'

/* What the rows of requests take, refuse and show. */

let requests: Requests
let provider: Person
beforeAll(async () => {
  requests = await openRequests()
  provider = requests.market.provider
})
afterAll(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})

const post = (body: unknown, by = requests.poster) => by.call('POST', '/v1/postings', body)
const read = (path: string) => requests.market.market.call('GET', path)
const fieldsOf = ({ body }: { body: { details?: { path: string }[] } }) => body.details?.map(({ path }) => path)
const inHours = (hours: number) => new Date(requests.market.ctx().clock.now() + hours * HOUR_MS).toISOString()

describe('a request', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no title', { title: ' ' }, 'title'],
    ['a title over 500 characters', { title: 'x'.repeat(501) }, 'title'],
    ['a brief that is no object', { brief: 'text' }, 'brief'],
    ['a brief over 16 KiB', { brief: { text: 'x'.repeat(MAX_BRIEF_BYTES) } }, 'brief'],
    ['no budget', { budget_max_usd: undefined }, 'budget_max_usd'],
    ['a budget of nothing', { budget_max_usd: 0 }, 'budget_max_usd'],
    ['a budget over $10,000', { budget_max_usd: 10_000.001 }, 'budget_max_usd'],
    ['a budget as text', { budget_max_usd: '20' }, 'budget_max_usd'],
    ['a budget below zero', { budget_min_usd: -1 }, 'budget_min_usd'],
    ['a budget with 7 decimals', { budget_max_usd: 1.1234567 }, 'budget_max_usd'],
    ['a range upside down', { budget_min_usd: 21 }, 'budget_min_usd'],
    ['a deadline that has passed', { deadline: '2020-01-01T00:00:00Z' }, 'deadline'],
    ['a deadline that is no time', { deadline: 'tomorrow' }, 'deadline'],
    ['a parent that is no job', { parent_job_id: 'job_0123456789abcdef' }, 'parent_job_id'],
    ['an empty category', { category: '' }, 'category'],
    ['a member too many', { status: 'awarded' }, 'status'],
  ])('with %s is a 400 that names the field', async (_, change, field) => {
    const answer = await post({ ...wanted, ...change })
    expect([answer.status, fieldsOf(answer)]).toEqual([400, [field]])
  })

  test('shows what it was made with, and expires after 30 days or at its deadline', async () => {
    const id = await requests.post({ title: ' Two words ', budget_min_usd: 1.5, category: 'design' })
    const { body } = await read(`/v1/postings/${id}`)
    expect(body).toMatchObject({ title: 'Two words', budget_min_usd: 1.5, budget_max_usd: 20, category: 'design' })
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(POSTING_LIFE_MS)
    const [soon, late] = [inHours(5), inHours(24 * 60)]
    const hurried = (await read(`/v1/postings/${await requests.post({ deadline: soon })}`)).body
    expect([hurried.deadline, hurried.expires_at]).toEqual([soon, soon])
    const relaxed = (await read(`/v1/postings/${await requests.post({ deadline: late })}`)).body
    expect([relaxed.deadline, Date.parse(relaxed.expires_at) - Date.parse(relaxed.created_at)]).toEqual([
      late,
      30 * DAY_MS,
    ])
    const offset = await post({ ...wanted, deadline: inHours(5).replace(/\.\d+Z/, '+00:00') })
    expect(offset.status).toBe(200)
  })

  test('is a subcontract when it is part of a job that its poster provides, and no one else’s', async () => {
    const { market, poster, service } = requests
    const { body } = await market.buy(service, poster, { from: 'balance' })
    const sub = await post({ ...wanted, parent_job_id: body.job_id }, provider)
    expect([sub.status, sub.body.is_subcontract]).toEqual([200, true])
    const buyers = await post({ ...wanted, parent_job_id: body.job_id })
    expect([buyers.status, fieldsOf(buyers)]).toEqual([400, ['parent_job_id']])
  })

  test('is one of 100 at most that are open', async () => {
    const busy = await requests.market.agent()
    const made = []
    for (let n = 0; n < MAX_OPEN_POSTINGS; n += 1) made.push(await requests.post({}, busy))
    expect((await post(wanted, busy)).status).toBe(409)
    await busy.call('POST', `/v1/postings/${made[0]}/cancel`)
    expect((await post(wanted, busy)).status).toBe(200)
  })

  test('is cancelled by its poster alone, while it is open', async () => {
    const id = await requests.post()
    const bid = await requests.bid(id)
    const path = `/v1/postings/${id}/cancel`
    expect((await provider.call('POST', path)).status).toBe(403)
    expect((await requests.poster.call('POST', '/v1/postings/post_0123456789abcdef/cancel')).status).toBe(404)
    expect((await requests.poster.call('POST', path)).body).toMatchObject({ id, status: 'cancelled', bid_count: 1 })
    expect((await requests.bidRow(bid)).status).toBe('rejected')
    const again = await requests.poster.call('POST', path)
    expect([again.status, again.body.code, again.body.from, again.body.allowed]).toEqual([
      409,
      'invalid_transition',
      'cancelled',
      [],
    ])
  })
})

describe('a bid', () => {
  const bid = (id: string, change: Record<string, unknown> = {}, by = provider) =>
    by.call('POST', `/v1/postings/${id}/bids`, { ...BID, service_id: requests.service, ...change })

  test.each<[string, Record<string, unknown>, string]>([
    ['no price', { price_usd: undefined }, 'price_usd'],
    ['a price that is no multiple of $0.001', { price_usd: 1.0005 }, 'price_usd'],
    ['a price over $10,000', { price_usd: '10000.001' }, 'price_usd'],
    ['no time', { eta_hours: 0 }, 'eta_hours'],
    ['too much time', { eta_hours: 2_161 }, 'eta_hours'],
    ['a listing that is none', { service_id: 'svc_0123456789abcdef' }, 'service_id'],
    ['a pitch that is too long', { pitch: 'x'.repeat(5_001) }, 'pitch'],
    ['a member too many', { status: 'accepted' }, 'status'],
  ])('with %s is a 400 that names the field', async (_, change, field) => {
    const answer = await bid(await requests.post(), change)
    expect([answer.status, fieldsOf(answer)]).toEqual([400, [field]])
  })

  test('is taken in each form of a price', async () => {
    for (const price_usd of [8, '8', '$8.00', { fixed: '8.00' }]) {
      const answer = await bid(await requests.post(), { price_usd })
      expect(answer.body).toMatchObject({
        price_usd: 8,
        agent_price_usd: 8.4,
        status: 'submitted',
        bid_id: answer.body.id,
      })
    }
  })

  test('is nobody’s on his own request, nor with another’s or an inactive listing', async () => {
    const mine = await requests.post({}, provider)
    const own = await bid(mine)
    expect([own.status, own.body.code]).toEqual([409, 'conflict'])
    const rival = await registered(requests.market.market, { type: 'provider' })
    expect(fieldsOf(await bid(await requests.post(), {}, rival))).toEqual(['service_id'])
    const idle = await requests.market.list('human')
    await provider.call('PUT', `/v1/services/${idle}`, { status: 'inactive' })
    expect(fieldsOf(await bid(await requests.post(), { service_id: idle }))).toEqual(['service_id'])
  })

  test('is a provider’s: agents are refused, strangers and unknown requests too', async () => {
    const id = await requests.post()
    expect((await bid(id, {}, await requests.market.agent())).status).toBe(403)
    expect((await bid('post_0123456789abcdef')).status).toBe(404)
    expect((await bid(id, {}, await stranger(requests.market.market))).status).toBe(401)
  })

  test('is one at a time for each provider and request, and after ten no more', async () => {
    const id = await requests.post()
    for (let n = 0; n < MAX_BIDS_PER_PROVIDER; n += 1) {
      const placed = await bid(id)
      expect([n, placed.status]).toEqual([n, 200])
      expect((await bid(id)).body.code).toBe('conflict')
      expect((await requests.posting(id)).bid_count).toBe(1)
      const withdrawn = await provider.call('DELETE', `/v1/postings/${id}/bids/${placed.body.id}`)
      expect([withdrawn.status, withdrawn.body.status, (await requests.posting(id)).bid_count]).toEqual([
        200,
        'withdrawn',
        0,
      ])
    }
    expect((await bid(id)).status).toBe(409)
  })

  test('is withdrawn by its bidder alone, and once', async () => {
    const id = await requests.post()
    const other = await requests.post()
    const placed = await requests.bid(id)
    const path = `/v1/postings/${id}/bids/${placed}`
    const rival = await registered(requests.market.market, { type: 'provider' })
    expect((await rival.call('DELETE', path)).status).toBe(403)
    expect((await provider.call('DELETE', `/v1/postings/${other}/bids/${placed}`)).status).toBe(404)
    expect((await provider.call('DELETE', path)).status).toBe(200)
    const again = await provider.call('DELETE', path)
    expect([again.status, again.body.code, again.body.from]).toEqual([409, 'invalid_transition', 'withdrawn'])
  })

  test('is shown to the poster alone, in the order made, by status and in pages', async () => {
    const id = await requests.post()
    const withdrawn = await requests.bid(id)
    await provider.call('DELETE', `/v1/postings/${id}/bids/${withdrawn}`)
    const live = await requests.bid(id)
    const list = (query = '', by = requests.poster) => by.call('GET', `/v1/postings/${id}/bids${query}`)
    const idsOf = async (query: string) => (await list(query)).body.bids.map((one: { id: string }) => one.id)
    expect(await idsOf('')).toEqual([withdrawn, live])
    expect(await idsOf('?status=submitted')).toEqual([live])
    expect(await idsOf('?limit=1&offset=1')).toEqual([live])
    expect((await list('?limit=1&offset=1')).body).toMatchObject({ total: 2, limit: 1, offset: 1 })
    expect((await list('', provider)).status).toBe(403)
    expect((await list('?status=sold')).status).toBe(400)
  })

  test('of an unverified provider goes up to $25, budget and price alike', async () => {
    const rich = await requests.post({ budget_max_usd: 25.001 })
    const just = await requests.post({ budget_max_usd: 25 })
    const refused = await bid(rich)
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    expect((await bid(just, { price_usd: 25.001 })).status).toBe(403)
    expect((await bid(just, { price_usd: 25 })).status).toBe(200)
    const tier = async (verification_tier: 'unverified' | 'email_verified') =>
      requests.market.ctx().store.tx(async (t) => {
        const row = await t.table(participants).getForUpdate(provider.id)
        if (row) await t.table(participants).put({ ...row, verification_tier })
      })
    await tier('email_verified')
    expect((await bid(rich, { price_usd: 30 })).status).toBe(200)
    await tier('unverified')
  })

  test('asks for accepted terms while the switch is on', async () => {
    const id = await requests.post()
    const placed = await requests.bid(id)
    const { ctx } = requests.market
    const switched = (terms_required: boolean) =>
      requests.market.market.admin('PUT', '/dashboard/api/admin/features', { body: { terms_required } })
    expect((await switched(true)).status).toBe(200)
    await ctx().switches.follow()
    expect((await bid(await requests.post())).body.code).toBe('terms_required')
    expect((await provider.call('DELETE', `/v1/postings/${id}/bids/${placed}`)).body.code).toBe('terms_required')
    await switched(false)
    await ctx().switches.follow()
  })
})

describe('an award is refused, and costs nothing', () => {
  const attempt = async (id: string, { body, by = requests.poster }: { body?: unknown; by?: Person }) => {
    const { market } = requests
    await deliveryWorker.of(market.ctx()).idle()
    const before = { wallet: await market.onChain(by), rows: await dump(market.ctx().store) }
    const answer = await by.pay(`/v1/postings/${id}/award`, body === undefined ? {} : { body })
    expect(await market.onChain(by)).toBe(before.wallet)
    expect((await dump(market.ctx().store)) === before.rows, 'something was changed').toBe(true)
    return [answer.status, answer.body.code]
  }

  test('before there is a bid, for a bid that is none, and when something is missing', async () => {
    const id = await requests.post()
    expect(await attempt(id, {})).toEqual([409, 'conflict'])
    expect(await attempt(id, { body: { bid_id: 'bid_0123456789abcdef' } })).toEqual([404, 'not_found'])
    expect(await attempt('post_0123456789abcdef', {})).toEqual([404, 'not_found'])
    const bid = await requests.bid(id)
    expect(await attempt(id, {})).toEqual([400, 'invalid_request'])
    expect(await attempt(id, { body: { bid_id: bid, price: 1 } })).toEqual([400, 'invalid_request'])
    const other = await requests.post()
    expect(await attempt(other, { body: { bid_id: bid } })).toEqual([404, 'not_found'])
  })

  test('to strangers, to those who did not register, and for a listing that is gone', async () => {
    const listed = await requests.market.list('human')
    const id = await requests.post()
    const body = { bid_id: await requests.bid(id, { service_id: listed }) }
    expect(await attempt(id, { body, by: await stranger(requests.market.market, '20.00') })).toEqual([
      403,
      'registration_required',
    ])
    expect(await attempt(id, { body, by: await requests.market.agent() })).toEqual([403, 'forbidden'])
    await provider.call('DELETE', `/v1/services/${listed}`)
    expect(await attempt(id, { body })).toEqual([409, 'conflict'])
  })

  test('while escrow is paused, before the 402, and while paid activity is', async () => {
    const { market } = requests
    const id = await requests.post()
    const body = { bid_id: await requests.bid(id) }
    await market.setPaused({ escrow: true })
    const escrow = await market.market.call('POST', `/v1/postings/${id}/award`, { body })
    expect([escrow.status, escrow.body.code, escrow.body.feature]).toEqual([503, 'paused', 'escrow'])
    await market.setPaused({ escrow: false, platform: true })
    expect(await attempt(id, { body })).toEqual([503, 'paused'])
    expect((await read(`/v1/postings/${id}`)).status).toBe(200)
    await market.setPaused({ platform: false })
  })

  test('for a bid that was withdrawn or rejected, and on what is no longer open', async () => {
    const id = await requests.post()
    const bid = await requests.bid(id)
    await provider.call('DELETE', `/v1/postings/${id}/bids/${bid}`)
    expect(await attempt(id, { body: { bid_id: bid } })).toEqual([409, 'invalid_transition'])
    const taken = await requests.bid(id)
    expect((await requests.award(id, taken, { from: 'balance' })).status).toBe(200)
    expect(await attempt(id, { body: { bid_id: taken } })).toEqual([409, 'invalid_transition'])
  })
})

test('the price of an award is that of its bid; without one, the budget and nothing of the bids', async () => {
  const rival = await registered(requests.market.market, { type: 'provider' })
  const { body: listed } = await rival.call('POST', '/v1/services', {
    name: 'Rival',
    description: 'Also does it.',
    price: '1.00',
    fulfillment_type: 'automated',
  })
  const id = await requests.post()
  const dear = await requests.bid(id)
  await requests.bid(id, { price_usd: 3, service_id: listed.id }, rival)
  const priced = async (body?: unknown) => {
    const answer = await requests.market.market.call('POST', `/v1/postings/${id}/award`, body ? { body } : {})
    return [answer.status, answer.body.accepts[0].maxAmountRequired]
  }
  expect([await priced(), await priced({ bid_id: dear })]).toEqual([
    [402, '20000000'],
    [402, '8400000'],
  ])
})

test('under the cutover the reads go on and the writes are shelved', async () => {
  const { ctx } = requests.market
  const id = await requests.post()
  const switched = (checkout_v2: boolean) =>
    requests.market.market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2 } })
  await switched(true)
  await ctx().switches.follow()
  for (const path of [
    '/v1/postings',
    `/v1/postings/${id}/bids`,
    `/v1/postings/${id}/cancel`,
    `/v1/postings/${id}/award`,
  ]) {
    const answer = await requests.poster.call('POST', path, {})
    expect([path, answer.status, answer.body.code, answer.body.feature]).toEqual([path, 410, 'deferred', 'requests'])
  }
  expect((await provider.call('PUT', '/v1/postings/notifications', {})).status).toBe(410)
  expect((await read(`/v1/postings/${id}`)).status).toBe(200)
  expect((await provider.call('GET', '/v1/postings/notifications')).status).toBe(200)
  await switched(false)
  await ctx().switches.follow()
})
