import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { crashAtEachStep, runOf, sides } from '../../../fixtures/kit/crash.ts'
import { checkedBy, type Received } from '../../../fixtures/kit/provider.ts'
import { participantDraft } from '../../../fixtures/kit/rows.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { openRequests, type Requests, wanted } from '../../../fixtures/market/postings.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { events } from '../../events/rows.ts'
import { background } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { deliveries } from '../webhooks/rows.ts'
import { deliveryWorker } from '../webhooks/worker.ts'
import {
  FANOUT_ROWS,
  MAX_CONSECUTIVE_FAILURES,
  NOTICE_DELAYS_MS,
  postingNotifyRetries,
} from './posting-notify-retries.ts'
import { insertPosting } from './routes.ts'
import { fanouts, notices, optIns } from './rows.ts'

// @slow endpoints that fail, over days of business time

/* Who hears of new requests, how often, and what a daemon that dies in between leaves. */

let requests: Requests
let provider: Person
let secret: string
beforeAll(async () => {
  requests = await openRequests()
  provider = requests.market.provider
  secret = (await ctx().store.table(participants).get(provider.id))?.webhook_secret ?? ''
})
afterAll(async () => {
  expect(await requests.market.faults()).toEqual([])
  await requests.close()
})
beforeEach(async () => {
  requests.market.hook.answer = () => ({})
  await provider.call('DELETE', '/v1/postings/notifications')
})

const ctx = () => requests.market.ctx()
const settings = (body?: unknown, by = provider) =>
  by.call(body === undefined ? 'GET' : 'PUT', '/v1/postings/notifications', body)
const anything = { min_budget_usd: null, max_budget_usd: null, categories: [] }

/** Lets all that was begun be done, and finds what the endpoint heard of a request. */
async function heard(posting: string): Promise<Received[]> {
  await Promise.all(background.of(ctx()))
  await deliveryWorker.of(ctx()).idle()
  return requests.market.hook.received.filter(
    ({ body }) => body.posting_id === posting && body.type === 'request.created',
  )
}

const eventsOf = async (participant: string, type: string) =>
  (await ctx().store.table(events).page('own', [participant], { limit: 1_000 })).rows.filter((row) => row.type === type)

describe('the opt-in', () => {
  test('is off until it is set, keeps what is not named, and can be set without being on', async () => {
    const fresh = await registered(requests.market.market, { type: 'provider' })
    const off = { participant_id: fresh.id, enabled: false, ...anything, consecutive_failures: 0 }
    expect((await settings(undefined, fresh)).body).toEqual(off)
    const on = { ...off, enabled: true, max_budget_usd: 12.5, categories: ['design'] }
    expect((await settings({ max_budget_usd: 12.5, categories: ['design', 'design'] }, fresh)).body).toEqual(on)
    expect((await settings({}, fresh)).body).toEqual(on)
    expect((await settings({ min_budget_usd: 2, enabled: false }, fresh)).body).toEqual({
      ...on,
      enabled: false,
      min_budget_usd: 2,
    })
    expect((await settings({ max_budget_usd: null }, fresh)).body).toMatchObject({
      enabled: true,
      max_budget_usd: null,
    })
    expect((await fresh.call('DELETE', '/v1/postings/notifications')).body).toMatchObject({
      enabled: false,
      min_budget_usd: 2,
    })
    expect((await settings(undefined, fresh)).body.enabled).toBe(false)
  })

  test.each([
    [{ min_budget_usd: 3, max_budget_usd: 2 }, 'min_budget_usd'],
    [{ max_budget_usd: '2' }, 'max_budget_usd'],
    [{ categories: 'design' }, 'categories'],
    [{ enabled: 1 }, 'enabled'],
    [{ consecutive_failures: 0 }, 'consecutive_failures'],
  ])('with %j is a 400 that names the field', async (body, field) => {
    const answer = await settings(body)
    expect([answer.status, answer.body.details[0].path]).toEqual([400, field])
  })
})

describe('a new request', () => {
  test('is told to those who asked, with relative paths, signed', async () => {
    await settings(anything)
    const id = await requests.post({ category: 'text', budget_min_usd: 1.5 })
    const [message, ...others] = await heard(id)
    expect(others).toEqual([])
    const { event_id, created_at, ...told } = message?.body ?? {}
    expect(told).toEqual({
      type: 'request.created',
      posting_id: id,
      posting_url: `/v1/postings/${id}`,
      bids_url: `/v1/postings/${id}/bids`,
      title: wanted.title,
      category: 'text',
      budget_min_usd: 1.5,
      budget_max_usd: 20,
    })
    expect([event_id, created_at]).toEqual([expect.stringMatching(/^evt_/), expect.stringMatching(/Z$/)])
    expect(checkedBy(message as Received, secret)).toMatchObject({ standard: true, hex: true })
    expect((await eventsOf(provider.id, 'request.created')).at(-1)?.subject_id).toBe(id)
  })

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['of another category', { ...anything, categories: ['design'] }, { category: 'text' }],
    ['below the least budget', { ...anything, min_budget_usd: 10 }, { budget_max_usd: 9.999 }],
    ['above the highest budget', { ...anything, max_budget_usd: 10 }, { budget_max_usd: 10.001 }],
    ['over $25, for an unverified provider', anything, { budget_max_usd: 25.001 }],
    ['while the opt-in is off', { ...anything, enabled: false }, {}],
  ])('%s is not told', async (_, wish, change) => {
    await settings(wish)
    const id = await requests.post(change)
    expect(await heard(id)).toEqual([])
    expect((await eventsOf(provider.id, 'request.created')).some((row) => row.subject_id === id)).toBe(false)
  })

  test('is not told to who made it; without an endpoint it is in the own events', async () => {
    await settings(anything)
    expect(await heard(await requests.post({}, provider))).toEqual([])
    const quiet = await registered(requests.market.market, { type: 'provider' })
    await settings({}, quiet)
    const id = await requests.post()
    await heard(id)
    expect((await eventsOf(quiet.id, 'request.created')).map((row) => row.subject_id)).toEqual([id])
    await quiet.call('DELETE', '/v1/postings/notifications')
  })
})

test('a provider that is suspended hears of nothing, and its bids are not awarded', async () => {
  const { market } = requests.market
  const banned = await registered(market, { type: 'provider' })
  const listing = { name: 'Rival', description: 'Also does it.', price: '1.00', fulfillment_type: 'human' }
  const service_id = (await banned.call('POST', '/v1/services', listing)).body.id
  await settings({}, banned)
  const before = await requests.post()
  const bid = await requests.bid(before, { service_id }, banned)
  await heard(before)
  const suspended = await market.admin('PUT', `/dashboard/api/admin/participants/${banned.id}`, {
    body: { suspended: true, reason: 'x' },
  })
  expect(suspended.status).toBe(200)
  await heard(await requests.post())
  expect((await eventsOf(banned.id, 'request.created')).map((row) => row.subject_id)).toEqual([before])
  expect((await requests.award(before, bid)).status).toBe(409)
})

describe('a notification that was not taken', () => {
  const broken = () => {
    requests.market.hook.answer = () => ({ status: 500 })
  }
  const failures = async () => (await settings()).body.consecutive_failures
  const noticeOf = async (posting: string) => ctx().store.table(notices).get(`${posting}:${provider.id}`)

  async function failed(): Promise<string> {
    await settings(anything)
    broken()
    const id = await requests.post()
    expect((await heard(id)).length).toBe(1)
    return id
  }

  test('is sent again by the cron alone, each time later, as the same event, and given up', async () => {
    const id = await failed()
    for (const [at, delay] of NOTICE_DELAYS_MS.entries()) {
      expect([(await heard(id)).length, await failures()]).toEqual([at + 1, at + 1])
      requests.market.pass(delay - SECOND)
      expect(await requests.runDue()).toBe(0)
      requests.market.pass(SECOND)
      expect(await requests.runDue()).toBe(1)
    }
    const tries = await heard(id)
    expect(tries.length).toBe(NOTICE_DELAYS_MS.length + 1)
    expect(new Set(tries.map(({ body }) => body.event_id)).size).toBe(1)
    expect([await noticeOf(id), await failures()]).toEqual([undefined, tries.length])
    requests.market.pass(10 * DAY_MS)
    await requests.runDue()
    expect((await heard(id)).length).toBe(tries.length)
  })

  const SECOND = 1_000

  test('ends with one that is: the count begins anew', async () => {
    const id = await failed()
    requests.market.hook.answer = () => ({})
    expect(await failures()).toBeGreaterThan(0)
    requests.market.pass(MINUTE_MS)
    await requests.runDue()
    expect([(await heard(id)).length, await failures(), await noticeOf(id)]).toEqual([2, 0, undefined])
  })

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['the request is over', (id) => requests.poster.call('POST', `/v1/postings/${id}/cancel`)],
    ['the opt-in is off', () => provider.call('DELETE', '/v1/postings/notifications')],
  ])('is dropped when %s', async (_, happens) => {
    const id = await failed()
    await happens(id)
    requests.market.pass(MINUTE_MS)
    await requests.runDue()
    expect([(await heard(id)).length, await noticeOf(id)]).toEqual([1, undefined])
  })

  test('counts; twenty in a row end the opt-in, and opting in again begins anew', async () => {
    await provider.call('DELETE', '/v1/postings/notifications')
    const first = await failed()
    expect(await failures()).toBe(1)
    const made = [first]
    while (made.length < MAX_CONSECUTIVE_FAILURES) {
      expect((await settings()).body).toMatchObject({ enabled: true, consecutive_failures: made.length })
      made.push(await requests.post())
      await heard(made.at(-1) as string)
    }
    expect((await settings()).body).toMatchObject({ enabled: false, consecutive_failures: MAX_CONSECUTIVE_FAILURES })
    expect(await eventsOf(provider.id, 'request.notifications_disabled')).toHaveLength(1)
    expect(await heard(await requests.post())).toEqual([])
    requests.market.pass(MINUTE_MS)
    await requests.runDue()
    expect((await heard(first)).length).toBe(1)
    expect(await ctx().store.table(notices).count('due', [])).toBe(0)
    expect((await settings({})).body).toMatchObject({ enabled: true, consecutive_failures: 0 })
  })
})

describe('the cron', () => {
  const cutover = async (checkout_v2: boolean) => {
    await requests.market.market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2 } })
    await ctx().switches.follow()
  }
  const insert = (body: object = {}) =>
    commit(ctx(), async (t, draw) => {
      const poster = await t.table(participants).get(requests.poster.id)
      if (!poster) throw new Error('no poster')
      const fields = { title: 'x', brief: {}, budget_max_usd: usdc(5_000_000n), ...body }
      return insertPosting(t, draw, { body: fields, poster, now: ctx().clock.now() })
    })

  test('goes on while paid activity is paused, and has nothing to skip', async () => {
    await settings(anything)
    await requests.market.setPaused({ platform: true })
    const { id } = await insert()
    expect(await runOf(postingNotifyRetries, ctx())).toBeUndefined()
    expect((await heard(id)).length).toBe(1)
    await requests.market.setPaused({ platform: false })
  })

  test('under the cutover tells nobody, still ends what has run out, and tells afterwards', async () => {
    await settings(anything)
    const { id } = await insert()
    const short = await insert({ deadline: ctx().clock.now() + HOUR_MS })
    await cutover(true)
    expect(await runOf(postingNotifyRetries, ctx())).toEqual({ skip: 'checkout_v2' })
    expect(await postingNotifyRetries.nextDue?.(ctx(), ctx().clock.now())).toBe(short.expires_at)
    requests.market.pass(HOUR_MS)
    expect(await runOf(postingNotifyRetries, ctx())).toBeUndefined()
    expect((await requests.posting(short.id)).status).toBe('expired')
    expect(await heard(id)).toEqual([])
    await cutover(false)
    expect(await runOf(postingNotifyRetries, ctx())).toBeUndefined()
    expect([(await heard(id)).length, (await heard(short.id)).length]).toEqual([1, 0])
  })

  test.each(sides)('may die %s any of its steps: everybody hears once, what is due ends once', async (side) => {
    const many = Array.from({ length: 2 * FANOUT_ROWS + 5 }, (_, at) => participantDraft(0xabc000 + at).id)
    await crowd(many)
    const steps = await crashAtEachStep(postingNotifyRetries, ctx(), {
      side,
      async arrange() {
        const [told, ended] = [await insert(), await insert({ deadline: ctx().clock.now() + HOUR_MS })]
        const bid = await requests.bid(ended.id)
        await ctx().store.tx((t) => t.table(fanouts).delete(ended.id))
        requests.market.pass(HOUR_MS)
        return { told, ended, bid }
      },
      async check({ told, ended, bid }) {
        expect([(await requests.posting(ended.id)).status, (await requests.bidRow(bid)).status]).toEqual([
          'expired',
          'rejected',
        ])
        const posted = (await eventsOf(requests.poster.id, 'posting.expired')).filter(
          (row) => row.subject_id === ended.id,
        )
        expect(posted).toHaveLength(1)
        const messages = await heard(told.id)
        expect([messages.length, new Set(messages.map(({ body }) => body.event_id)).size]).toEqual([
          many.length,
          many.length,
        ])
        expect(await ctx().store.table(fanouts).count('at', [])).toBe(0)
      },
    })
    expect(steps).toBe(4)
    await ctx().store.tx(async (t) => {
      for (const id of many) {
        const row = await t.table(optIns).getForUpdate(id)
        if (row) await t.table(optIns).put({ ...row, enabled: false })
      }
    })
  })

  test.each(sides)('may die %s any step of a retry: it is sent again once', async (side) => {
    await settings(anything)
    const steps = await crashAtEachStep(postingNotifyRetries, ctx(), {
      side,
      async arrange() {
        requests.market.hook.answer = () => ({ status: 503 })
        const ids = [await requests.post(), await requests.post()]
        for (const id of ids) await heard(id)
        requests.market.hook.answer = () => ({})
        requests.market.pass(MINUTE_MS)
        return ids
      },
      async check(ids) {
        for (const id of ids) expect((await heard(id)).length).toBe(2)
        expect((await settings()).body.consecutive_failures).toBe(0)
      },
    })
    expect(steps).toBe(2)
    expect(await ctx().store.table(notices).count('delivery', [])).toBe(0)
  })

  /** Providers that opted in, all at one endpoint. */
  async function crowd(ids: readonly string[]): Promise<void> {
    await ctx().store.tx(async (t) => {
      for (const [at, id] of ids.entries()) {
        if (!(await t.table(participants).get(id))) {
          const draft = participantDraft(0xabc000 + at)
          await t
            .table(participants)
            .insert({ ...draft, webhook_url: requests.market.hook.url, webhook_secret: secret })
        }
        await t.table(optIns).getForUpdate(id)
        const wish = { min_budget: null, max_budget: null, categories: [], consecutive_failures: 0 }
        await t.table(optIns).put({ id, enabled: true, ...wish, updated_at: 0 })
      }
    })
  }

  test('leaves no delivery behind that nobody ends', async () => {
    await deliveryWorker.of(ctx()).idle()
    expect(await ctx().store.table(deliveries).count('due', [])).toBe(0)
  })
})
