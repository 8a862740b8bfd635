import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gate } from '../../../fixtures/kit/faults.ts'
import {
  balanceOfAccount,
  credit,
  listing,
  type Member,
  member,
  payFor,
  soundBooks,
} from '../../../fixtures/kit/money.ts'
import { type Answer, type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { AppError } from '../../../src/core/error.ts'
import { events } from '../../events/rows.ts'
import { commit } from '../../store/draw.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { earnings } from '../ledger/rows.ts'
import { keepFrom } from '../payouts/payouts.ts'

let market: Marketplace
let buyPath: string
let alice: Member

beforeAll(async () => {
  market = await openMarketplace()
  buyPath = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  alice = await member(market, { wallet: '500.00' })
})
afterAll(() => market.close())

const keyed = (one: Member) => ({ headers: { 'X-API-Key': one.apiKey } })
const path = '/v1/balance/deposit'

async function expectSoundBooks(): Promise<Answer['body']> {
  const { body } = await market.admin('GET', '/dashboard/api/admin/audit')
  expect(body.checks.filter((check: { ok: boolean }) => !check.ok)).toEqual([])
  expect(body.ok).toBe(true)
  return body
}

describe('a deposit', () => {
  test.each<[string, { body?: object; query?: string; version: 1 | 2 }]>([
    ['by its body, x402 v1', { body: { amount: '5.00' }, version: 1 }],
    ['by its query, x402 v2', { query: '?amount=5.00', version: 2 }],
    ['by both where they agree', { query: '?amount=5.00', body: { amount: '5' }, version: 1 }],
  ])('%s: quoted, charged and credited', async (_, { body, query = '', version }) => {
    const one = await member(market, { wallet: '10.00' })
    const offer = await market.call('POST', `${path}${query}`, body ? { body } : {})
    expect([offer.status, offer.body.accepts[0].maxAmountRequired]).toEqual([402, '5000000'])
    const answer = await payFor(market, one, { path: `${path}${query}`, ...(body ? { body } : {}), version })
    expect(answer.body).toEqual({
      balance: '5.00',
      credited: '5.00',
      transaction_id: expect.stringMatching(/^txn_[0-9a-f]{16}$/),
    })
    const [balance, history] = [
      await market.call('GET', '/v1/balance', keyed(one)),
      await market.call('GET', '/v1/balance/history', keyed(one)),
    ]
    expect(balance.body).toEqual({
      balance: '5.00',
      available: '5.00',
      held: '0.00',
      currency: 'USDC',
      participant_id: one.id,
    })
    expect(history.body.entries).toEqual([
      {
        id: answer.body.transaction_id,
        type: 'deposit',
        amount: '5.00',
        balance_after: '5.00',
        reference: { kind: 'receipt', id: expect.stringMatching(/^rcp_/) },
        created_at: expect.any(String),
      },
    ])
  })

  test.each([1, 2] as const)(
    'without an amount quotes 0.01 and credits what is authorised, x402 v%i',
    async (version) => {
      const one = await member(market, { wallet: '100.00' })
      const offer = await market.call('POST', path)
      expect(offer.body.accepts[0].maxAmountRequired).toBe('10000')
      const change = { value: 42_123_456n }
      const headers = await signPayment(one.account, offer, { version, change })
      const answer = await market.call('POST', path, { headers })
      expect([answer.status, answer.body.credited]).toEqual([200, '42.123456'])
      expect(await balanceOfAccount(market, account.balance(one.id))).toBe(42_123_456n)
    },
  )

  test.each([
    ['less than a cent', 9_999n],
    ['more than 10,000', 10_000_000_001n],
  ])('authorised for %s is refused, uncharged', async (_, value) => {
    const offer = await market.call('POST', path)
    const headers = await signPayment(alice.account, offer, { change: { value } })
    const answer = await market.call('POST', path, { headers })
    expect([answer.status, answer.body.error]).toEqual([402, 'invalid_exact_evm_payload_authorization_value'])
  })

  test.each(['0.009999', '10000.01', '-1', 'five', '1e3'])('of %s is a 400 that names the amount', async (amount) => {
    for (const answer of [
      await market.call('POST', path, { body: { amount } }),
      await market.call('POST', `${path}?amount=${amount}`),
    ]) {
      expect([answer.status, answer.body.details[0].path]).toEqual([400, 'amount'])
    }
  })

  test('with two amounts is a 400', async () => {
    const answer = await market.call('POST', `${path}?amount=1`, { body: { amount: '2' } })
    expect([answer.status, answer.body.details[0].path]).toEqual([400, 'amount'])
  })

  test('of a wallet that never registered is refused before any charge', async () => {
    const stranger = await market.buyer('5.00')
    const answer = await payFor(market, stranger, { path: `${path}?amount=1` })
    expect([answer.status, answer.body.code]).toEqual([403, 'registration_required'])
    expect(await market.daemon.ctx.chain.balanceOf(stranger.wallet)).toBe(5_000_000n)
  })

  test('takes a signed payment only', async () => {
    const answer = await market.call('POST', `${path}?amount=1`, { headers: { 'X-BALANCE-AUTH': alice.apiKey } })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
  })

  test('goes to the balance of the wallet that paid, whoever’s key came along', async () => {
    const mallory = await member(market)
    const offer = await market.call('POST', `${path}?amount=1`)
    const headers = { ...(await signPayment(alice.account, offer)), 'X-API-Key': mallory.apiKey }
    const answer = await market.call('POST', `${path}?amount=1`, { headers })
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
    expect(await balanceOfAccount(market, account.balance(mallory.id))).toBe(0n)
  })
})

test('the history tells every change of a balance with what it left', async () => {
  const one = await member(market, { wallet: '10.00' })
  await payFor(market, one, { path: `${path}?amount=1.00` })
  const pay = { 'X-BALANCE-AUTH': one.apiKey }
  await market.call('POST', buyPath, { body: { data: 'bought' }, headers: pay })
  await market.call('POST', '/v1/discover', { body: {}, headers: pay })
  const { body } = await market.call('GET', '/v1/balance/history?limit=2', keyed(one))
  expect([body.total, body.limit, body.offset]).toEqual([3, 2, 0])
  const { body: rest } = await market.call('GET', '/v1/balance/history?offset=2', keyed(one))
  const told = [...body.entries, ...rest.entries].map((entry) => [entry.type, entry.amount, entry.balance_after])
  expect(told).toEqual([
    ['fee', '-0.001', '0.989'],
    ['purchase', '-0.01', '0.99'],
    ['deposit', '1.00', '1.00'],
  ])
  expect((await market.call('GET', '/v1/balance', keyed(alice))).body.balance).toBe('0.00')
  await expectSoundBooks()
})

test('an order into escrow is told as what it is', async () => {
  const one = await member(market, { balance: '1.00' })
  const order = `/v1/services/${(await listing(market)).id}/purchase`
  await market.call('POST', order, { body: {}, headers: { 'X-BALANCE-AUTH': one.apiKey } })
  const { body } = await market.call('GET', '/v1/balance/history', keyed(one))
  expect(body.entries[0]).toMatchObject({ type: 'escrow_hold', amount: '-0.105', balance_after: '0.895' })
  await expectSoundBooks()
})

test('what a call under way has reserved shows as held, with its owner and what comes next', async () => {
  const work = gate()
  const run = async () => {
    await work.wait()
    throw new AppError('provider_failed', 'no luck')
  }
  const slow = await openMarketplace({}, { firstParty: () => ({ run }) })
  try {
    const one = await member(slow, { balance: '1.00' })
    const row = `/v1/services/${await slow.serviceId('qr_code')}/purchase`
    const call = slow.call('POST', row, { body: { data: 'x' }, headers: { 'X-BALANCE-AUTH': one.apiKey } })
    await work.reached
    const { body: meanwhile } = await slow.call('GET', '/v1/balance', keyed(one))
    expect(meanwhile).toMatchObject({ balance: '1.00', available: '0.99', held: '0.01' })
    const { body } = await slow.admin('GET', '/dashboard/api/admin/holds')
    expect([body.total, body.holds]).toEqual([
      1,
      [
        {
          account: expect.stringMatching(/^hold:balance:req_/),
          kind: 'hold',
          amount: '0.01',
          owner: { kind: 'participant', id: one.id },
          reason: 'purchaseService is reserved',
          next_event: 'fulfilled or released',
          next_event_at: expect.any(String),
        },
      ],
    ])
    await soundBooks(slow)
    work.open()
    expect((await call).status).toBe(502)
    const { body: after } = await slow.call('GET', '/v1/balance/history', keyed(one))
    expect(after.entries[0]).toMatchObject({ type: 'release', amount: '0.01', balance_after: '1.00' })
    await soundBooks(slow)
  } finally {
    await slow.close()
  }
})

test('a sanctioned wallet is refused, uncharged, by x402 and from its balance', async () => {
  const listed = new Set<string>()
  const guarded = await openMarketplace({}, { isSanctioned: async (wallet) => listed.has(wallet) })
  try {
    const one = await member(guarded, { balance: '1.00' })
    const row = { path: `/v1/services/${await guarded.serviceId('qr_code')}/purchase`, body: { data: 'x' } }
    const before = await guarded.daemon.ctx.chain.balanceOf(one.wallet)
    listed.add(one.wallet)
    const byBalance = { body: row.body, headers: { 'X-BALANCE-AUTH': one.apiKey } }
    const answers = [await payFor(guarded, one, row), await guarded.call('POST', row.path, byBalance)]
    expect(answers.map((answer) => [answer.status, answer.body.code])).toEqual([
      [403, 'sanctioned'],
      [403, 'sanctioned'],
    ])
    expect(await guarded.daemon.ctx.chain.balanceOf(one.wallet)).toBe(before)
    expect(await balanceOfAccount(guarded, account.balance(one.id))).toBe(1_000_000n)
  } finally {
    await guarded.close()
  }
})

describe('an adjustment by the administrator', () => {
  const adjust = (id: string, body: object) =>
    market.admin('POST', `/dashboard/api/admin/participants/${id}/adjust`, { body })

  test('moves money between a balance and the operator, and stands in the event log with its reason', async () => {
    const one = await member(market, { balance: '3.00' })
    const before = await balanceOfAccount(market, account.oper)
    const taken = await adjust(one.id, { amount: '-2.00', reason: 'chargeback 17' })
    expect(taken.body).toMatchObject({ participant_id: one.id, adjusted: '-2.00', balance: '1.00' })
    const given = await adjust(one.id, { amount: '0.50', reason: 'goodwill' })
    expect(given.body).toMatchObject({ adjusted: '0.50', balance: '1.50' })
    expect((await balanceOfAccount(market, account.oper)) - before).toBe(1_500_000n)
    const { body } = await market.call('GET', '/v1/balance/history', keyed(one))
    expect(
      body.entries.slice(0, 2).map((entry: { type: string; amount: string }) => [entry.type, entry.amount]),
    ).toEqual([
      ['adjustment', '0.50'],
      ['adjustment', '-2.00'],
    ])
    const log = await market.daemon.ctx.store.table(events).page('own', [one.id], { limit: 10 })
    const reasons = log.rows.filter((row) => row.type === 'admin.balance_adjusted').map((row) => row.data.reason)
    expect(reasons).toEqual(['chargeback 17', 'goodwill'])
    await expectSoundBooks()
  })

  test.each<[string, object, [number, string]]>([
    ['more than the balance', { amount: '-100.00', reason: 'r' }, [409, 'conflict']],
    ['more than the operator has', { amount: '1000.00', reason: 'r' }, [409, 'conflict']],
    ['nothing', { amount: '0', reason: 'r' }, [400, 'invalid_request']],
    ['without a reason', { amount: '1', reason: '  ' }, [400, 'invalid_request']],
  ])('of %s is refused', async (_, body, expected) => {
    const answer = await adjust(alice.id, body)
    expect([answer.status, answer.body.code]).toEqual(expected)
  })

  describe('with an Idempotency-Key', () => {
    const keyedBy = (id: string, key: string, body: object) =>
      market.admin('POST', `/dashboard/api/admin/participants/${id}/adjust`, {
        body,
        headers: { 'Idempotency-Key': key },
      })

    test('is applied once, however often and however much at once it is asked for', async () => {
      const one = await member(market, { balance: '3.00' })
      const body = { amount: '-1.00', reason: 'chargeback 18' }
      const answers = await Promise.all(Array.from({ length: 16 }, () => keyedBy(one.id, 'k-18', body)))
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
      const fresh = answers.filter((answer) => answer.headers.get('Idempotency-Replayed') === null)
      expect([fresh.length, answers[0]?.body.balance]).toEqual([1, '2.00'])
      await market.restart()
      expect((await keyedBy(one.id, 'k-18', body)).headers.get('Idempotency-Replayed')).toBe('true')
      expect(await balanceOfAccount(market, account.balance(one.id))).toBe(2_000_000n)
      expect((await keyedBy(one.id, 'k-19', body)).body.balance).toBe('1.00')
      const { acts } = (await market.admin('GET', '/dashboard/api/admin/log')).body
      const mine = acts.filter((act: { subject: { id: string } }) => act.subject.id === one.id)
      expect(mine).toMatchObject([{ act: 'balance.adjust' }, { act: 'balance.adjust', reason: 'chargeback 18' }])
    })

    test('of another request before is a 409, and one that was refused may be tried again', async () => {
      const one = await member(market, { balance: '1.00' })
      const refused = await keyedBy(one.id, 'k-20', { amount: '-2.00', reason: 'r' })
      expect(refused.status).toBe(409)
      await credit(market, one.id, '5.00')
      expect((await keyedBy(one.id, 'k-20', { amount: '-2.00', reason: 'r' })).body.balance).toBe('4.00')
      const other = await keyedBy(one.id, 'k-20', { amount: '-3.00', reason: 'r' })
      expect([other.status, other.body.code]).toEqual([409, 'idempotency_mismatch'])
      expect((await keyedBy(one.id, 'x'.repeat(300), { amount: '-1.00', reason: 'r' })).status).toBe(400)
      expect(await balanceOfAccount(market, account.balance(one.id))).toBe(4_000_000n)
      await expectSoundBooks()
    })
  })

  test('of nobody is a 404', async () => {
    expect((await adjust('p_0000000000000000', { amount: '1', reason: 'r' })).status).toBe(404)
  })
})

describe('the audit', () => {
  test('says what it compared and as of which transaction', async () => {
    const report = await expectSoundBooks()
    expect(report.as_of.seq).toBe(report.transactions)
    expect(report.checks.map((check: { name: string }) => check.name)).toEqual([
      'zero_sum',
      'order',
      'negative',
      'fees',
      'accounts',
      'history',
      'jobs',
      'charges',
      'owners',
      'earnings',
      'claims',
      'chain',
    ])
  })

  test('finds earnings that are not what sales brought, and kept money that is not there', async () => {
    const planted = await openMarketplace()
    try {
      const { ctx } = planted.daemon
      const buyer = await member(planted)
      const purchase = `/v1/services/${await planted.serviceId('qr_code')}/purchase`
      expect((await payFor(planted, buyer, { path: purchase, body: { data: 'x' } })).status).toBe(200)
      const [sale] = (await ctx.store.table(earnings).page('own', [], { limit: 1 })).rows
      await ctx.store.tx((t) => t.table(earnings).delete(sale?.id ?? ''))
      const { wallet } = buyer
      const ref = { kind: 'test', id: 'x' }
      await commit(ctx, async (t, draw) => {
        const kept = { kind: 'referral' as const, wallet, source: 'ops', ref, at: 1 }
        await keepFrom(t, draw, kept)
        const legs = legsOf.unblocked({ to: 'ops', wallet, amount: await balanceOf(t, account.blocked(wallet)) })
        await post(t, draw, { kind: 'unblocked', ref, legs, at: 1 })
      })
      const { body } = await planted.admin('GET', '/dashboard/api/admin/audit')
      const faults = body.checks.filter((check: { ok: boolean }) => !check.ok)
      expect(faults.map((check: { name: string }) => check.name)).toEqual(['earnings', 'claims'])
      expect(faults[0].detail).toMatch(/^prov:p_\w+ gained 0.0095, its earnings record 0.00$/)
      expect(faults[1].detail).toContain(`in blk:${wallet}, which holds 0.00`)
    } finally {
      await planted.close()
    }
  })

  test('finds money that no chain backs, and money held for nobody', async () => {
    const planted = await openMarketplace()
    try {
      const { ctx } = planted.daemon
      await commit(ctx, (t, draw) =>
        post(t, draw, {
          kind: 'escrow_hold',
          ref: { kind: 'job', id: 'job_none' },
          legs: [{ from: account.ext, to: account.escrow('job_none'), amount: 1_000n as never }],
          at: 1,
        }),
      )
      const { body } = await planted.admin('GET', '/dashboard/api/admin/audit')
      const faults = body.checks.filter((check: { ok: boolean }) => !check.ok)
      expect(faults.map((check: { name: string }) => check.name)).toEqual(['owners', 'chain'])
      const { body: held } = await planted.admin('GET', '/dashboard/api/admin/holds')
      expect(held.holds).toEqual([
        {
          account: 'esc:job_none',
          kind: 'esc',
          amount: '0.001',
          owner: null,
          reason: 'no owner',
          next_event: null,
          next_event_at: null,
        },
      ])
    } finally {
      await planted.close()
    }
  })
})
