import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registered, stranger } from '../../../fixtures/market/people.ts'
import { openPlans, PERIOD, type Plans, START } from '../../../fixtures/market/plans.ts'
import { toWallet } from '../../../src/core/hex.ts'
import { account } from '../ledger/legs.ts'
import { accounts } from '../ledger/rows.ts'

// @story one plan from its making to its end

let market: Plans
let service: string
beforeAll(async () => {
  market = await openPlans()
  service = await market.list('automated')
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const iso = (at: number) => new Date(at).toISOString()
const PLAN = { name: 'Basic', price: '10.00', billing_period: 'monthly' }

describe('a plan', () => {
  test('is created, read, listed, changed and deleted by its provider', async () => {
    const { provider, market: open } = market
    const body = { ...PLAN, description: 'Words.', service_ids: [service] }
    const created = await provider.call('POST', '/v1/plans', body)
    const { id } = created.body
    expect(created.body).toMatchObject({
      ...body,
      plan_id: id,
      provider_id: provider.id,
      agent_price: '10.50',
      provider_net_price: '10.00',
      services: [{ service_id: service, name: 'Word count', status: 'active' }],
      status: 'active',
      subscribers: 0,
      created_at: iso(START),
    })
    expect((await open.call('GET', `/v1/plans/${id}`)).body).toEqual(created.body)
    const listed = await open.call('GET', `/v1/plans?provider=${provider.id}&limit=1`)
    expect(listed.body).toEqual({ plans: [created.body], total: 1, limit: 1, offset: 0 })
    const changed = await provider.call('PUT', `/v1/plans/${id}`, { price: '$12.00', name: 'More' })
    expect(changed.body).toMatchObject({ name: 'More', agent_price: '12.60', description: 'Words.' })
    expect((await provider.call('DELETE', `/v1/plans/${id}`)).body).toEqual({ id, plan_id: id, deleted: true })
    expect((await open.call('GET', '/v1/plans')).body.total).toBe(0)
    expect((await open.call('GET', `/v1/plans/${id}`)).body.status).toBe('deleted')
    for (const method of ['PUT', 'DELETE']) {
      const refused = await provider.call(method, `/v1/plans/${id}`, {})
      expect([refused.status, refused.body.from, refused.body.allowed]).toEqual([409, 'deleted', []])
    }
    const late = await (await market.agent('20.00')).pay(`/v1/plans/${id}/subscribe`)
    expect([late.status, late.body.code]).toEqual([409, 'invalid_transition'])
  })

  test.each([
    ['no service', { service_ids: [] }, 'service_ids'],
    ['a service that is not there', { service_ids: ['svc_0123456789abcdef'] }, 'service_ids.0'],
    ['a price out of step', { price: '10.0005' }, 'price'],
    ['another period', { billing_period: 'weekly' }, 'billing_period'],
    ['a stray member', { interval: 1 }, 'interval'],
    ['no name', { name: ' ' }, 'name'],
  ])('is refused with %s', async (_, change, path) => {
    const body = { ...PLAN, service_ids: [service], ...change }
    const refused = await market.provider.call('POST', '/v1/plans', body)
    expect([refused.status, refused.body.details[0].path]).toEqual([400, path])
  })

  test('takes only the provider’s own active services with a fixed price, each once', async () => {
    const other = await registered(market.market, { type: 'provider' })
    const asked = await market.list('human', { price: null, pricing_model: 'quote_required' })
    const resting = await market.list('human')
    await market.provider.call('PUT', `/v1/services/${resting}`, { status: 'inactive' })
    const gone = await market.list('human')
    await market.provider.call('DELETE', `/v1/services/${gone}`)
    for (const wrong of [asked, resting, gone, service]) {
      const body = { ...PLAN, service_ids: [service, wrong] }
      const refused = await market.provider.call('POST', '/v1/plans', body)
      expect([refused.status, refused.body.details[0].path]).toEqual([400, 'service_ids.1'])
    }
    const theirs = await other.call('POST', '/v1/plans', { ...PLAN, service_ids: [service] })
    expect([theirs.status, theirs.body.details[0].path]).toEqual([400, 'service_ids.0'])
    const id = await market.plan([service])
    for (const method of ['PUT', 'DELETE']) {
      expect((await other.call(method, `/v1/plans/${id}`, {})).status).toBe(403)
      expect((await other.call(method, '/v1/plans/plan_0123456789abcdef', {})).status).toBe(404)
    }
    const agent = await market.agent()
    expect((await agent.call('POST', '/v1/plans', { ...PLAN, service_ids: [service] })).body.code).toBe('forbidden')
  })
})

describe('subscribing', () => {
  test.each(['x402', 'balance'] as const)('pays the first period by %s', async (from) => {
    const plan = await market.plan([service])
    const who = await market.agent(from === 'balance' ? '30.00' : undefined)
    if (from === 'x402') await market.market.admin('POST', '/dashboard/api/admin/faucet', fundFor(who.account.address))
    const before = await market.earned()
    const answer = await market.subscribe(plan, who, from)
    const { id } = answer.body
    expect(answer.body).toMatchObject({
      subscription_id: id,
      plan_id: plan,
      status: 'active',
      has_access: true,
      amount: '1.05',
      fee: '0.05',
      provider_amount: '1.00',
      subscriber: { participant_id: who.id, wallet: who.account.address },
      service_ids: [service],
      current_period_start: iso(START),
      current_period_end: '2027-02-28T09:30:00.000Z',
      next_charge_at: '2027-02-28T09:30:00.000Z',
      periods_paid: 1,
      payment: { method: from },
    })
    expect((await market.earned()) - before).toBe(PERIOD.net)
    if (from === 'balance') expect(await market.balance(who)).toBe(30_000_000n - PERIOD.agent)
    expect((await market.charges(id)).map(({ kind }) => kind)).toEqual(['subscription'])
    expect((await who.call('GET', `/v1/subscriptions/${id}`)).body).toEqual(answer.body)
    expect((await market.provider.call('GET', `/v1/subscriptions/${id}`)).body).toEqual(answer.body)
    const own = await who.call('GET', '/v1/subscriptions?status=active&role=buyer')
    expect(own.body).toEqual({ subscriptions: [answer.body], total: 1, limit: 20, offset: 0 })
    expect((await who.call('GET', '/v1/subscriptions?role=provider')).body.total).toBe(0)
    const stranger = await market.agent()
    expect((await stranger.call('GET', `/v1/subscriptions/${id}`)).status).toBe(403)
    expect((await stranger.call('GET', '/v1/subscriptions/sub_0123456789abcdef')).status).toBe(404)
    expect((await market.market.call('GET', `/v1/plans/${plan}`)).body.subscribers).toBe(1)
    const again = await market.subscribe(plan, who, from)
    expect([again.status, again.body.code]).toEqual([409, 'conflict'])
    expect(again.body.message).toContain('already')
  })

  test('shares the fee with those who referred buyer and provider', async () => {
    const referrer = await market.agent()
    const referred = { referral_code: `ref_${referrer.id}` }
    const seller = await registered(market.market, { type: 'provider', ...referred })
    const who = await registered(market.market, { type: 'agent', ...referred })
    const listed = await seller.call('POST', '/v1/services', {
      name: 'x',
      description: 'x',
      price: '1.00',
      fulfillment_type: 'human',
    })
    const made = await seller.call('POST', '/v1/plans', { ...PLAN, price: '1.00', service_ids: [listed.body.id] })
    await market.subscribed(made.body.id, who)
    const pending = await market.ctx().store.table(accounts).get(account.referralPending(referrer.id))
    expect(pending?.balance).toBe((PERIOD.fee * 45n) / 100n)
  })

  test('is refused before any charge: unregistered, own plan, nothing to have, unknown plan', async () => {
    const nobody = await stranger(market.market, '50.00')
    const plan = await market.plan([service])
    const unregistered = await nobody.pay(`/v1/plans/${plan}/subscribe`)
    expect([unregistered.status, unregistered.body.code]).toEqual([403, 'registration_required'])
    await market.market.admin('POST', '/dashboard/api/admin/faucet', fundFor(market.provider.account.address))
    const own = await market.provider.pay(`/v1/plans/${plan}/subscribe`)
    expect([own.status, own.body.code]).toEqual([409, 'conflict'])
    const only = await market.list('human')
    const empty = await market.plan([only])
    await market.provider.call('PUT', `/v1/services/${only}`, { status: 'inactive' })
    const who = await market.agent('20.00')
    expect((await market.subscribe(empty, who)).body.code).toBe('conflict')
    expect(await market.balance(who)).toBe(20_000_000n)
    expect((await market.subscribe('plan_0123456789abcdef', who)).status).toBe(404)
    const wallet = toWallet(nobody.account.address)
    expect(await market.ctx().chain.balanceOf(wallet)).toBe(50_000_000n)
    const short = await market.subscribe(plan, await market.agent('1.00'))
    expect([short.status, short.body.code, short.body.required]).toEqual([402, 'insufficient_balance', '1.05'])
  })
})

function fundFor(wallet: string) {
  return { body: { wallet, amount: '50.00' } }
}
