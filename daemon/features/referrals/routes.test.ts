import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runOf } from '../../../fixtures/kit/crash.ts'
import { credit } from '../../../fixtures/kit/money.ts'
import { type Escrow, openEscrow, PRICE, priced } from '../../../fixtures/market/escrow.ts'
import type { Answer } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { product } from '../../../fixtures/market/products.ts'
import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { providerSettlement } from '../payouts/provider-settlement.ts'
import { subscriptions } from '../subscriptions/subscriptions.ts'
import { referralRewards } from './referral-rewards.ts'

const CALLERS = 32
const AGENT_SHARE = (PRICE.fee * 20n) / 100n
const PROVIDER_SHARE = (PRICE.fee * 25n) / 100n

let market: Escrow
const sanctioned = new Set<Wallet>()
beforeAll(async () => {
  market = await openEscrow({ isSanctioned: async (wallet) => sanctioned.has(wallet) })
})
afterAll(async () => {
  expect(await market.faults()).toEqual([])
  await market.close()
})

const walletOf = (person: Person) => toWallet(person.account.address)
const codeOf = async (person: Person) => (await person.call('GET', '/v1/referrals/code')).body.referral_code as string
const withdraw = (person: Person) => person.call('POST', '/v1/referrals/withdraw')
const rewards = () => runOf(referralRewards, market.ctx())

/** A sale on both sides of which somebody was referred, in escrow until `market.monitor()`. */
async function scene() {
  const [forAgent, forProvider] = [await market.agent(), await market.agent()]
  const buyer = await registered(market.market, { type: 'agent', referral_code: await codeOf(forAgent) })
  const seller = await registered(market.market, {
    type: 'provider',
    referral_code: await codeOf(forProvider),
    webhook_url: market.hook.url,
  })
  const listed = await seller.call('POST', '/v1/services', { ...priced, fulfillment_type: 'automated' })
  return { forAgent, forProvider, buyer, seller, service: listed.body.id as string }
}

async function sell({ buyer, seller, service }: Awaited<ReturnType<typeof scene>>): Promise<string> {
  const { body } = await market.buy(service, buyer)
  await seller.call('POST', `/v1/jobs/${body.job_id}/update`, { status: 'completed', deliverables: { words: 1 } })
  market.pass(8 * DAY_MS)
  await market.monitor()
  expect((await market.job(body.job_id)).status).toBe('released')
  return body.job_id
}

/** Referral money that can be withdrawn, as if it had been earned. */
async function makePayable(person: Person, amount: bigint): Promise<void> {
  const { chain, clock } = market.ctx()
  await chain.faucet?.({ wallet: chain.payTo, amount: usdc(amount), nowMs: clock.now() })
  await commit(market.ctx(), (t, draw) =>
    post(t, draw, {
      kind: 'deposit',
      ref: { kind: 'test', id: person.id },
      legs: [{ from: account.ext, to: account.referral(person.id), amount: usdc(amount) }],
      at: clock.now(),
    }),
  )
}

test('the program says its rates, rules and how to take part, without a key', async () => {
  const { status, body } = await market.market.call('GET', '/v1/referrals/program')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    enabled: true,
    currency: 'USDC',
    rates: { agent_pct: 20, provider_pct: 25 },
    minimum_withdrawal: '1.00',
    participation: { code_format: 'ref_<participant id>' },
  })
  expect(body.participation.endpoints).toContain('/v1/referrals/withdraw')
  const health = (await market.market.call('GET', '/health')).body.referral_program
  expect(health).toMatchObject({ enabled: true, endpoints: body.participation.endpoints })
})

test('both referrers share in the fee of each sale, for ever, and see by whom', async () => {
  const stage = await scene()
  const { forAgent, forProvider, buyer, seller } = stage
  const first = await sell(stage)
  const second = await sell(stage)
  const [agent, provider] = await Promise.all(
    [forAgent, forProvider].map((one) => one.call('GET', '/v1/referrals/earnings')),
  )
  expect(agent?.body).toMatchObject({
    pending: '0.01',
    payable: '0.00',
    withdrawn: '0.00',
    lifetime: '0.01',
    breakdown: { agent: '0.01', provider: '0.00' },
    total: 2,
    history: [
      { role: 'agent', amount: '0.005', referred_id: buyer.id, reference: { kind: 'job', id: second } },
      { role: 'agent', amount: '0.005', referred_id: buyer.id, reference: { kind: 'job', id: first } },
    ],
  })
  expect(provider?.body).toMatchObject({ pending: '0.0125', breakdown: { agent: '0.00', provider: '0.0125' } })
  expect(await market.booked(account.referralPending(forAgent.id))).toBe(2n * AGENT_SHARE)
  expect(await market.booked(account.referralPending(forProvider.id))).toBe(2n * PROVIDER_SHARE)
  const listed = (await forProvider.call('GET', '/v1/referrals')).body
  expect(listed).toMatchObject({
    referral_code: `ref_${forProvider.id}`,
    total: 1,
    referrals: [{ participant_id: seller.id, type: 'provider', earned: '0.0125' }],
    balance: { pending: '0.0125', payable: '0.00', minimum_withdrawal: '1.00', currency: 'USDC' },
  })
  await rewards()
  expect((await forAgent.call('GET', '/v1/referrals')).body.balance).toMatchObject({
    pending: '0.00',
    payable: '0.01',
    lifetime: '0.01',
  })
  const { events } = (await forAgent.call('GET', '/v1/events?types=referral.due')).body
  expect(events).toMatchObject([{ data: { amount: '0.01', payable: '0.01' } }])
})

test('an instant sale shares its fee with who referred the buyer', async () => {
  const referrer = await market.agent()
  const who = await registered(market.market, { type: 'agent', referral_code: await codeOf(referrer) })
  const qr = await market.market.serviceId('qr_code')
  const answer = await who.pay(`/v1/services/${qr}/purchase`, { body: { data: 'x' } })
  expect(answer.status).toBe(200)
  // First-party at 0.01: the fee is 5 % of it, the share 20 % of that.
  expect((await referrer.call('GET', '/v1/referrals')).body.balance.pending).toBe('0.0001')
})

describe('every kind of sale', () => {
  type Sold = {
    readonly path: string
    readonly body?: unknown
    readonly fee: bigint
    readonly after?: () => Promise<unknown>
  }
  type Stage = Awaited<ReturnType<typeof scene>>
  const month = 31 * DAY_MS

  /** What is bought, by its row; the fee of a price p is p × 0.05. */
  const kinds: Record<string, (stage: Stage) => Promise<Sold>> = {
    async instant({ seller }) {
      const change = { ...priced, fulfillment_type: 'instant' }
      const { body } = await seller.call('POST', '/v1/services', change)
      market.hook.answer = () => ({ body: JSON.stringify({ words: 3 }) })
      return { path: `/v1/services/${body.id}/purchase`, fee: PRICE.fee }
    },
    async product({ seller }) {
      const { body } = await product(market.market, seller, { price: '2.00' })
      return { path: `/v1/products/${body.id}/purchase`, fee: 100_000n }
    },
    async subscription({ seller, service }) {
      const plan = { name: 'All', description: 'All of it.', price: '1.00', billing_period: 'monthly' }
      const { body } = await seller.call('POST', '/v1/plans', { ...plan, service_ids: [service] })
      return { path: `/v1/plans/${body.id}/subscribe`, fee: 50_000n }
    },
    async 'subscription with its renewal'(stage) {
      const sold = await kinds.subscription?.(stage)
      await credit(market.market, stage.buyer.id, '5.00')
      const after = async () => {
        market.pass(month)
        await runOf(subscriptions, market.ctx())
      }
      return { ...(sold as Sold), fee: 100_000n, after }
    },
    async 'accepted proposal'({ seller, buyer, service }) {
      const { body } = await buyer.pay(`/v1/services/${service}/inquire`, { body: { brief: 'How much?' } })
      const thread = `/v1/threads/${body.thread_id}`
      await seller.call('POST', `${thread}/propose`, { price: '3.00' })
      const after = async () => {
        await seller.call('POST', `${thread}/update`, { status: 'completed', deliverables: { words: 1 } })
        market.pass(8 * DAY_MS)
        await market.monitor()
      }
      return { path: `${thread}/accept`, fee: 150_000n, after }
    },
  }

  test.each(Object.keys(kinds))('%s: 20 % and 25 % of its fee, each floored', async (kind) => {
    const stage = await scene()
    const sold = await (kinds[kind] as (stage: Stage) => Promise<Sold>)(stage)
    const answer = await stage.buyer.pay(sold.path, { body: sold.body ?? {} })
    expect([answer.status, answer.text]).toEqual([200, answer.text])
    await sold.after?.()
    const pending = async (who: Person) => market.booked(account.referralPending(who.id))
    expect([await pending(stage.forAgent), await pending(stage.forProvider)]).toEqual([sold.fee / 5n, sold.fee / 4n])
    const { history, breakdown } = (await stage.forAgent.call('GET', '/v1/referrals/earnings')).body
    expect(history[0]).toMatchObject({ role: 'agent', referred_id: stage.buyer.id })
    expect(breakdown.provider).toBe('0.00')
  })
})

describe('a withdrawal', () => {
  const facts = (answer: Answer) => [answer.status, answer.body.code, answer.body.payable, answer.body.missing]

  test('below the minimum is a 409 that says how much is missing', async () => {
    const who = await market.agent()
    expect(facts(await withdraw(who))).toEqual([409, 'conflict', '0.00', '1.00'])
    await makePayable(who, 999_999n)
    expect(facts(await withdraw(who))).toEqual([409, 'conflict', '0.999999', '0.000001'])
    expect(await market.booked(account.referral(who.id))).toBe(999_999n)
  })

  test('of pending money names its state, and what could be done instead', async () => {
    const stage = await scene()
    await sell(stage)
    const { status, body } = await withdraw(stage.forAgent)
    expect([status, body.code, body.from, body.to, body.allowed, body.pending]).toEqual([
      409,
      'invalid_transition',
      'pending',
      'withdrawn',
      [],
      '0.005',
    ])
  })

  test('moves all that is payable to the balance, and shows in its history', async () => {
    const who = await market.agent({ balance: '0.50' })
    await makePayable(who, 1_000_001n)
    const { status, body } = await withdraw(who)
    expect([status, body.withdrawn, body.balance]).toEqual([200, '1.000001', '1.500001'])
    const { entries } = (await who.call('GET', '/v1/balance/history')).body
    expect(entries[0]).toMatchObject({ type: 'referral', amount: '1.000001', id: body.transaction_id })
    expect(await market.booked(account.referral(who.id))).toBe(0n)
  })

  test('by thirty-two callers at once moves the money once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const who = await market.agent()
      await makePayable(who, 2_000_000n)
      const answers = await Promise.all(Array.from({ length: CALLERS }, () => withdraw(who)))
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses).toEqual([200, ...Array.from({ length: CALLERS - 1 }, () => 409)])
      expect(await market.booked(account.balance(who.id))).toBe(2_000_000n)
      expect(await market.booked(account.referral(who.id))).toBe(0n)
    }
  })

  test('beside the cron that makes more payable loses nothing', async () => {
    const who = await market.agent()
    for (let round = 0; round < 5; round += 1) {
      await makePayable(who, 1_500_000n)
      await commit(market.ctx(), (t, draw) => {
        const legs = [{ from: account.ext, to: account.referralPending(who.id), amount: usdc(100n) }]
        return post(t, draw, { kind: 'deposit', ref: { kind: 'test', id: who.id }, legs, at: 1 })
      })
      await market.ctx().chain.faucet?.({ wallet: market.ctx().chain.payTo, amount: usdc(100n), nowMs: 0 })
      await Promise.all([withdraw(who), rewards()])
    }
    const [payable, balance] = [
      await market.booked(account.referral(who.id)),
      await market.booked(account.balance(who.id)),
    ]
    expect([payable + balance, await market.booked(account.referralPending(who.id))]).toEqual([7_500_500n, 0n])
  })

  test('of a sanctioned wallet is refused and counted; of anybody while paused, or under the cutover', async () => {
    const who = await market.agent()
    await makePayable(who, 1_000_000n)
    sanctioned.add(walletOf(who))
    expect((await withdraw(who)).body.code).toBe('sanctioned')
    const health = (await market.market.call('GET', '/health')).body.launch.gate_refusals_24h
    expect(health.sanctioned).toBeGreaterThanOrEqual(1)
    await rewards()
    sanctioned.delete(walletOf(who))
    expect((await withdraw(who)).body).toMatchObject({ from: 'blocked', blocked: '1.00' })
    market.pass(DAY_MS)
    await runOf(providerSettlement, market.ctx())
    await market.setPaused({ platform: true })
    expect((await withdraw(who)).body.code).toBe('paused')
    await market.setPaused({ platform: false })
    const features = '/dashboard/api/admin/features'
    await market.market.admin('PUT', features, { body: { checkout_v2: true } })
    expect((await withdraw(who)).body).toMatchObject({ code: 'deferred', feature: 'prepaid_balance' })
    await market.market.admin('PUT', features, { body: { checkout_v2: false } })
    expect((await withdraw(who)).status).toBe(200)
  })
})

describe('earnings of a provider', () => {
  const earnings = async (person: Person) => (await person.call('GET', '/v1/provider/earnings')).body

  test('are held, then pending, then settled with the transaction that carried them', async () => {
    const stage = await scene()
    const { seller, buyer, service } = stage
    expect(await earnings(seller)).toEqual({
      settled_usd: 0,
      held_usd: 0,
      pending_usd: 0,
      lifetime_usd: 0,
      next_settlement_at: null,
      waiting: [],
      recent_settlements: [],
      currency: 'USDC',
    })
    const job = await sell(stage)
    await market.buy(service, buyer)
    expect(await earnings(seller)).toMatchObject({ held_usd: 0.5, pending_usd: 0.5, lifetime_usd: 0.5, settled_usd: 0 })
    await runOf(providerSettlement, market.ctx())
    await sell(stage)
    const { recent_settlements: recent, ...sums } = await earnings(seller)
    expect(sums).toMatchObject({ held_usd: 0, settled_usd: 0.5, pending_usd: 0.5, lifetime_usd: 1 })
    expect(recent).toMatchObject([
      { status: 'pending', tx_hash: null, provider_amount_usd: 0.5, service_id: service },
      { status: 'settled', tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/), job_id: job, posting_id: null },
    ])
    expect(recent[0].settlement_id).toBe(recent[0].id)
  })

  test('are blocked while the wallet is sanctioned', async () => {
    const stage = await scene()
    await sell(stage)
    sanctioned.add(walletOf(stage.seller))
    await runOf(providerSettlement, market.ctx())
    sanctioned.delete(walletOf(stage.seller))
    expect(await earnings(stage.seller)).toMatchObject({
      pending_usd: 0.5,
      recent_settlements: [{ status: 'blocked' }],
    })
  })
})
