import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { credit } from '../../../fixtures/kit/money.ts'
import { openProvider, type Provider } from '../../../fixtures/kit/provider.ts'
import type { Person } from '../../../fixtures/market/people.ts'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { events } from '../../events/rows.ts'
import { tally } from '../../kernel/tally.ts'
import { subscriptionWork } from './due-work.ts'
import { periodStart } from './periods.ts'

let market: Plans // @slow periods over years of business time
let hook: Provider
let service: string
let plan: string
const sanctioned = new Set<Wallet>()
beforeAll(async () => {
  hook = await openProvider()
  market = await openPlans({ isSanctioned: async (wallet) => sanctioned.has(wallet) })
  await market.provider.call('PUT', `/v1/participants/${market.provider.id}`, { webhook_url: hook.url })
  service = await market.list('human')
  plan = await market.plan([service])
})
afterEach(() => market.at(START))
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
  await hook.close()
})

const END = periodStart(START, 'monthly', 1)
const NEXT_END = periodStart(START, 'monthly', 2)
const wallet = (who: Person) => toWallet(who.account.address)

async function begun(periods = 0) {
  const who = await market.agent()
  const id = await market.subscribed(plan, who)
  for (let paid = 0; paid < periods; paid += 1) await credit(market.market, who.id, '1.05')
  const act = (name: string, body: object = {}) => who.call('POST', `/v1/subscriptions/${id}/${name}`, body)
  return { who, id, act }
}

const renewAt = async (at: number) => {
  market.at(at)
  return market.renew()
}
const kinds = async (id: string) => (await market.charges(id)).map(({ kind }) => kind)
const status = async (id: string) => (await market.row(id)).status

describe('a balance that does not suffice', () => {
  test('makes it past due, is asked again after 1, 2 and 3 days, and then ends it', async () => {
    const { who, id } = await begun()
    await credit(market.market, who.id, '1.049999')
    expect(await renewAt(END - 1)).toBeUndefined()
    expect(await status(id)).toBe('active')
    const tries = [END, END + DAY_MS, END + 2 * DAY_MS]
    for (const [count, at] of tries.entries()) {
      await renewAt(at)
      const row = await market.row(id)
      expect([row.status, row.failures, row.next_event_at]).toEqual(['past_due', count + 1, END + (count + 1) * DAY_MS])
      await renewAt(at + DAY_MS - 1)
      expect((await market.row(id)).failures).toBe(count + 1)
    }
    const seen = await who.call('GET', `/v1/subscriptions/${id}`)
    expect(seen.body).toMatchObject({ status: 'past_due', has_access: false, failed_charges: 3, periods_paid: 1 })
    await renewAt(END + 3 * DAY_MS)
    expect(await market.row(id)).toMatchObject({
      status: 'expired',
      live: false,
      ended_at: END + 3 * DAY_MS,
      next_event: null,
    })
    await credit(market.market, who.id, '1.05')
    await renewAt(END + 40 * DAY_MS)
    expect([await kinds(id), await status(id)]).toEqual([['subscription'], 'expired'])
    expect(await market.subscribe(plan, who)).toMatchObject({ status: 200 })
  })

  test.each([1, 2, 3])('that is made up for is charged on day %i, in the same rhythm', async (days) => {
    const { who, id } = await begun()
    for (let day = 0; day < days; day += 1) await renewAt(END + day * DAY_MS)
    await credit(market.market, who.id, '1.05')
    await renewAt(END + days * DAY_MS)
    expect(await market.row(id)).toMatchObject({
      status: 'active',
      failures: 0,
      past_due_since: null,
      current_period_start: END,
      current_period_end: NEXT_END,
      charges: 2,
    })
    expect([await kinds(id), await market.balance(who)]).toEqual([['subscription', 'renewal'], 0n])
  })

  test('is not asked three times at once after the daemon slept', async () => {
    const { id } = await begun()
    await renewAt(END)
    await renewAt(END + 10 * DAY_MS)
    expect(await market.row(id)).toMatchObject({ status: 'past_due', failures: 2, next_event_at: END + 11 * DAY_MS })
  })

  test('may be that of a wallet on a sanctions list: it is not charged', async () => {
    const { who, id } = await begun(1)
    sanctioned.add(wallet(who))
    const before = tally.of(market.ctx()).lastDay('gate_refusals').sanctioned ?? 0
    await renewAt(END)
    expect([await status(id), await kinds(id)]).toEqual(['past_due', ['subscription']])
    expect(tally.of(market.ctx()).lastDay('gate_refusals').sanctioned).toBe(before + 1)
    expect((await market.subscribe(await market.plan([service]), who)).body.code).toBe('sanctioned')
    sanctioned.delete(wallet(who))
    await renewAt(END + DAY_MS)
    expect(await status(id)).toBe('active')
  })
})

test('nobody pays while suspended, or for services that are all off the market', async () => {
  const listed = await market.list('human')
  const single = await market.plan([listed])
  const [suspended, waiting] = [await market.agent(), await market.agent()]
  const ids = [await market.subscribed(single, suspended), await market.subscribed(single, waiting)]
  await credit(market.market, suspended.id, '1.05')
  await credit(market.market, waiting.id, '2.10')
  const standing = (is: boolean) => ({ body: { suspended: is, reason: 'test' } })
  const path = `/dashboard/api/admin/participants/${suspended.id}`
  expect((await market.market.admin('PUT', path, standing(true))).status).toBe(200)
  await renewAt(END)
  expect([await status(ids[0] ?? ''), await status(ids[1] ?? '')]).toEqual(['past_due', 'active'])
  await market.market.admin('PUT', path, standing(false))
  market.at(NEXT_END)
  await market.provider.call('PUT', `/v1/services/${listed}`, { status: 'inactive' })
  await market.renew()
  expect([await status(ids[0] ?? ''), await status(ids[1] ?? '')]).toEqual(['past_due', 'past_due'])
  await market.provider.call('PUT', `/v1/services/${listed}`, { status: 'active' })
  await renewAt(NEXT_END + DAY_MS)
  for (const id of ids) expect(await market.row(id)).toMatchObject({ status: 'active', failures: 0 })
})

describe('periods', () => {
  test('that went by unwatched are never charged: one renewal, for a period from then on', async () => {
    const { who, id } = await begun(5)
    const late = NEXT_END + 50 * DAY_MS
    await renewAt(late)
    await renewAt(late)
    const row = await market.row(id)
    expect([row.charges, row.anchor_at, row.current_period_start]).toEqual([2, late, late])
    expect(row.current_period_end).toBe(periodStart(late, 'monthly', 1))
    expect(await market.balance(who)).toBe(4n * PERIOD.agent)
  })

  test('that begin a little late keep their rhythm', async () => {
    const { id } = await begun(1)
    await renewAt(NEXT_END - 1)
    expect(await market.row(id)).toMatchObject({ current_period_start: END, current_period_end: NEXT_END, charges: 2 })
  })
})

describe('a pause', () => {
  test('charges nothing, and keeps what is paid for', async () => {
    const { id, act } = await begun(2)
    expect((await act('pause')).body).toMatchObject({ status: 'paused', has_access: true, next_charge_at: null })
    expect((await act('pause')).body).toMatchObject({ code: 'invalid_transition', from: 'paused', to: 'paused' })
    await renewAt(END)
    await renewAt(NEXT_END)
    expect([await status(id), await kinds(id), (await market.row(id)).next_event]).toEqual([
      'paused',
      ['subscription'],
      null,
    ])
  })

  test('that ends in time changes nothing', async () => {
    const { id, act } = await begun(1)
    await act('pause')
    market.at(END - HOUR_MS)
    expect((await act('resume')).body).toMatchObject({ status: 'active', next_charge_at: new Date(END).toISOString() })
    await renewAt(END)
    expect(await market.row(id)).toMatchObject({ current_period_start: END, current_period_end: NEXT_END, charges: 2 })
  })

  test('that ends later is charged by the next run, for a period from then on', async () => {
    const { id, act } = await begun(1)
    await act('pause')
    await renewAt(END)
    const back = END + 3 * DAY_MS
    market.at(back)
    const resumed = await act('resume')
    expect(resumed.body).toMatchObject({
      status: 'active',
      has_access: false,
      next_charge_at: new Date(back).toISOString(),
    })
    await renewAt(back)
    expect(await market.row(id)).toMatchObject({
      status: 'active',
      anchor_at: back,
      current_period_end: periodStart(back, 'monthly', 1),
      lapsed: false,
    })
    expect(await kinds(id)).toEqual(['subscription', 'renewal'])
  })

  test('that ends right after its period gives nothing before it is charged', async () => {
    const { act } = await begun(1)
    await act('pause')
    market.at(END + MINUTE_MS)
    expect((await act('resume')).body).toMatchObject({ status: 'active', has_access: false })
  })

  test('that ends later without money is past due, and then as any other', async () => {
    const { who, id, act } = await begun()
    await act('pause')
    market.at(END + 3 * DAY_MS)
    await act('resume')
    await market.renew()
    expect(await status(id)).toBe('past_due')
    await credit(market.market, who.id, '1.05')
    await renewAt(END + 4 * DAY_MS)
    expect(await market.row(id)).toMatchObject({ status: 'active', current_period_start: END + 4 * DAY_MS })
  })
})

describe('a cancellation', () => {
  test('is not undone by a resume that does not say so', async () => {
    const { id, act } = await begun(1)
    await act('pause')
    await act('cancel')
    expect((await act('resume')).body).toMatchObject({ status: 'active', cancel_at_period_end: true })
    await renewAt(END)
    expect([await status(id), await kinds(id)]).toEqual(['canceled', ['subscription']])
  })

  test('waits for the end of the period, is not made twice, and can be taken back', async () => {
    const { id, act } = await begun(1)
    const waiting = await act('cancel')
    expect(waiting.body).toMatchObject({ status: 'active', cancel_at_period_end: true, next_charge_at: null })
    expect((await act('cancel', { at_period_end: true })).body).toEqual(waiting.body)
    expect((await act('resume')).body.code).toBe('conflict')
    expect((await act('resume', { keep: true })).body).toMatchObject({ cancel_at_period_end: false, canceled_at: null })
    expect((await act('resume')).body).toMatchObject({ code: 'invalid_transition', from: 'active' })
    await act('cancel')
    await renewAt(END)
    const ended = await market.row(id)
    expect([ended.status, ended.canceled_at, ended.ended_at]).toEqual(['canceled', START, END])
    expect(await kinds(id)).toEqual(['subscription'])
    for (const name of ['cancel', 'pause', 'resume']) {
      const refused = await act(name)
      expect([refused.status, refused.body.from, refused.body.allowed]).toEqual([409, 'canceled', []])
    }
  })

  test('ends one at once that is past due, or that nothing is paid for any more', async () => {
    const [late, resting] = [await begun(), await begun()]
    await resting.act('pause')
    await renewAt(END)
    for (const { act, id } of [late, resting]) {
      expect((await act('cancel')).body).toMatchObject({ status: 'canceled', periods_paid: 1 })
      await renewAt(END + DAY_MS)
      expect(await status(id)).toBe('canceled')
    }
  })

  test('of a paused one comes with the end of its period', async () => {
    const { id, act } = await begun(1)
    await act('pause')
    await act('cancel')
    await renewAt(END)
    expect(await status(id)).toBe('canceled')
  })

  test('is the subscriber’s alone', async () => {
    const { id } = await begun()
    for (const who of [market.provider, await market.agent()]) {
      for (const name of ['cancel', 'pause', 'resume']) {
        expect((await who.call('POST', `/v1/subscriptions/${id}/${name}`, {})).status).toBe(403)
      }
    }
    expect((await market.provider.call('POST', '/v1/subscriptions/sub_0123456789abcdef/pause')).status).toBe(404)
  })
})

describe('a plan', () => {
  test('that is deleted ends its subscriptions with their period, and charges nobody', async () => {
    const single = await market.plan([service])
    const [active, paused] = [await market.agent('2.10'), await market.agent('2.10')]
    const ids = [await market.subscribed(single, active), await market.subscribed(single, paused)]
    await paused.call('POST', `/v1/subscriptions/${ids[1]}/pause`)
    await market.provider.call('DELETE', `/v1/plans/${single}`)
    const refused = await paused.call('POST', `/v1/subscriptions/${ids[1]}/resume`)
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    await renewAt(END - 1)
    for (const id of ids) expect((await market.row(id)).live).toBe(true)
    await renewAt(END)
    for (const id of ids) expect([await status(id), await kinds(id)]).toEqual(['canceled', ['subscription']])
  })

  test('that changes its price and services does so for new subscribers only: a renewal is for what was agreed to', async () => {
    const [first, second] = [await market.list('human'), await market.list('human')]
    const single = await market.plan([first])
    const old = await market.agent()
    const id = await market.subscribed(single, old)
    await market.provider.call('PUT', `/v1/plans/${single}`, {
      price: '3.00',
      service_ids: [second],
      billing_period: 'annual',
    })
    const fresh = await market.subscribe(single, await market.agent(), 'x402')
    expect(fresh.body).toMatchObject({ amount: '3.15', billing_period: 'annual', service_ids: [second] })
    expect((await market.row(id)).service_ids).toEqual([first])
    await credit(market.market, old.id, '1.05')
    await renewAt(END)
    expect(await market.row(id)).toMatchObject({
      amount: PERIOD.agent,
      billing_period: 'monthly',
      service_ids: [first],
    })
    expect(await market.balance(old)).toBe(0n)
  })

  test('with nothing left to give ends its subscriptions instead of charging them', async () => {
    const only = await market.list('human')
    const id = await market.subscribed(await market.plan([only]), await market.agent())
    market.at(END)
    expect((await market.provider.call('DELETE', `/v1/services/${only}`)).status).toBe(200)
    await market.renew()
    expect([await status(id), await kinds(id)]).toEqual(['canceled', ['subscription']])
  })
})

describe('the switches', () => {
  afterEach(() => market.switches({ paused_at: null, checkout_v2: false }))

  test('paused: the run is skipped, and no attempt is counted', async () => {
    const [rich, poor] = [await begun(1), await begun()]
    await market.switches({ paused_at: START })
    expect(await renewAt(END)).toEqual({ skip: 'paused' })
    for (const { id } of [rich, poor])
      expect(await market.row(id)).toMatchObject({ status: 'active', failures: 0, charges: 1 })
    await market.switches({ paused_at: null })
    await market.renew()
    expect([await status(rich.id), await status(poor.id)]).toEqual(['active', 'past_due'])
    expect((await market.row(rich.id)).charges).toBe(2)
  })

  test.each([{ paused_at: START }, { checkout_v2: true }])(
    '%o that comes while a run is under way is obeyed',
    async (change) => {
      const { id } = await begun(1)
      market.at(END)
      await market.switches(change)
      for (const work of subscriptionWork) await work.run(market.ctx(), id, END)
      expect(await market.row(id)).toMatchObject({ status: 'active', failures: 0, charges: 1 })
    },
  )

  test('cut over: nothing is charged and nobody is past due; what was cancelled ends all the same', async () => {
    const [rich, poor, leaving] = [await begun(1), await begun(), await begun(1)]
    await leaving.act('cancel')
    await market.switches({ checkout_v2: true })
    expect((await rich.act('pause')).body).toMatchObject({ code: 'deferred', feature: 'subscriptions' })
    expect(await renewAt(END)).toBeUndefined()
    expect(await status(leaving.id)).toBe('canceled')
    expect(await market.renew()).toEqual({ skip: 'checkout_v2' })
    for (const { id } of [rich, poor])
      expect(await market.row(id)).toMatchObject({ status: 'active', failures: 0, charges: 1 })
    expect((await rich.who.call('GET', `/v1/subscriptions/${rich.id}`)).status).toBe(200)
  })
})

test('the provider’s endpoint and both parties’ events hear what happens', async () => {
  const { who, id, act } = await begun()
  await act('pause')
  await act('resume')
  await renewAt(END)
  await credit(market.market, who.id, '1.05')
  await renewAt(END + DAY_MS)
  for (const day of [0, 1, 2, 3]) await renewAt(NEXT_END + day * DAY_MS)
  const left = await begun()
  await left.act('cancel', { at_period_end: false })
  const words = ['created', 'paused', 'resumed', 'past_due', 'renewed', 'past_due', 'expired']
  const types = words.map((word) => `subscription.${word}`)
  for (const party of [who, market.provider]) {
    const { rows } = await market.ctx().store.table(events).page('own', [party.id], { limit: 1_000 })
    expect(rows.filter((event) => event.subject_id === id).map(({ type }) => type)).toEqual(types)
  }
  const heard = () => hook.received.filter(({ body }) => [id, left.id].includes(body.subscription_id))
  await expect.poll(() => heard().length).toBe(types.length + 2)
  expect(heard().map(({ body }) => body.type)).toEqual([...types, 'subscription.created', 'subscription.canceled'])
  expect(heard()[0]?.body).toMatchObject({
    subscription_id: id,
    plan_id: plan,
    plan_name: 'All of it',
    subscriber_id: who.id,
    status: 'active',
    amount: '1.05',
    current_period_start: new Date(START).toISOString(),
    current_period_end: new Date(END).toISOString(),
    cancel_at_period_end: false,
  })
})
