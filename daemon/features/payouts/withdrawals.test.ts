import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { crashAtEachStep, runOf, sides } from '../../../fixtures/kit/crash.ts'
import { chainWith, movableClock } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, credit, fund, soundBooks } from '../../../fixtures/kit/money.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Answer, type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { formatAmount, usdc } from '../../../src/core/money.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import type { TransferFailure } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { autoRefund } from '../payments/auto-refund.ts'
import { payouts } from './rows.ts'

/* Whose money it is can take it out: once, whole, to the own wallet, wherever the process dies. */

let market: Marketplace
/** The chain's answer to transfers, where it is not to do them. */
let refusal: TransferFailure | undefined
const sanctioned = new Set<Wallet>()
const time = movableClock()

beforeAll(async () => {
  const chain = chainWith((real) => ({
    transfer: async (order) => (refusal ? { ok: false, failure: refusal } : real.transfer(order)),
  }))
  const isSanctioned = async (wallet: Wallet) => sanctioned.has(wallet)
  market = await openMarketplace({}, { chain, clock: time.clock, isSanctioned, ticker: noTicks })
})
beforeEach(() => {
  refusal = undefined
  sanctioned.clear()
})
afterAll(async () => {
  await soundBooks(market)
  await market.close()
})

const ctx = () => market.daemon.ctx
const pay = () => runOf(autoRefund, ctx())
const held = (name: string) => balanceOfAccount(market, name)
const walletOf = (person: Person) => toWallet(person.account.address)
const onChain = (person: Person) => ctx().chain.balanceOf(walletOf(person))
const setPaused = (isPaused: boolean) =>
  market.admin('POST', `/dashboard/api/admin/platform/${isPaused ? 'pause' : 'unpause'}`)
const setCutover = (isOn: boolean) =>
  market.admin('PUT', '/dashboard/api/admin/features', { body: { checkout_v2: isOn } })
const history = async (person: Person) => (await person.call('GET', '/v1/balance/history')).body.entries

async function holder(balance = '5.00'): Promise<Person> {
  const person = await registered(market, { type: 'agent' })
  await credit(market, person.id, balance)
  return person
}

/** Referral money that can be withdrawn, as if it had been earned. */
async function referrer(amount = 2_000_000n): Promise<Person> {
  const person = await registered(market, { type: 'agent' })
  await fund(ctx().chain, usdc(amount), time.clock.wall())
  await commit(ctx(), (t, draw) =>
    post(t, draw, {
      kind: 'deposit',
      ref: { kind: 'test', id: person.id },
      legs: [{ from: account.ext, to: account.referral(person.id), amount: usdc(amount) }],
      at: time.clock.now(),
    }),
  )
  return person
}

type Source = {
  readonly name: string
  readonly make: () => Promise<Person>
  /** Takes everything out. */
  readonly withdraw: (person: Person, headers?: Record<string, string>) => Promise<Answer>
  readonly account: (person: Person) => string
  readonly amount: bigint
}

function send(person: Person, path: string, options: { body: unknown; headers?: Record<string, string> | undefined }) {
  return market.call('POST', path, { body: options.body, headers: { 'X-API-Key': person.key, ...options.headers } })
}

const sources: readonly Source[] = [
  {
    name: 'a balance',
    make: holder,
    withdraw: (person, headers) => send(person, '/v1/balance/withdraw', { body: { amount: '5.00' }, headers }),
    account: ({ id }) => account.balance(id),
    amount: 5_000_000n,
  },
  {
    name: 'referral money',
    make: referrer,
    withdraw: (person, headers) => send(person, '/v1/referrals/withdraw', { body: { to: 'wallet' }, headers }),
    account: ({ id }) => account.referral(id),
    amount: 2_000_000n,
  },
]

describe.each(sources)('$name', ({ make, withdraw, account: nameOf, amount }) => {
  test('reaches the own wallet once, and its owner hears of it', async () => {
    const person = await make()
    const before = await onChain(person)
    const { status, body } = await withdraw(person)
    expect([status, body.withdrawn, body.currency]).toEqual([200, formatAmount(amount), 'USDC'])
    expect([await held(nameOf(person)), await held(account.payout(body.payout_id))]).toEqual([0n, amount])
    await soundBooks(market)
    await pay()
    await pay()
    expect((await onChain(person)) - before).toBe(amount)
    expect(await held(account.payout(body.payout_id))).toBe(0n)
    const { events } = (await person.call('GET', '/v1/events?types=payout.*')).body
    const data = { amount: formatAmount(amount) }
    expect(events).toMatchObject([{ type: 'payout.confirmed', subject: { id: body.payout_id }, data }])
    await soundBooks(market)
  })

  test('waits among the holds with its owner and next event', async () => {
    const person = await make()
    refusal = 'unavailable'
    const { body } = await withdraw(person)
    await pay()
    const { holds } = (await market.admin('GET', '/dashboard/api/admin/holds?kind=out&limit=100')).body
    const mine = holds.find((hold: { account: string }) => hold.account === account.payout(body.payout_id))
    expect(mine).toMatchObject({ owner: { id: walletOf(person) }, next_event: 'sent' })
    expect(Date.parse(mine.next_event_at)).toBeGreaterThan(0)
    refusal = undefined
    time.advance(HOUR_MS)
    await pay()
    expect(await held(account.payout(body.payout_id))).toBe(0n)
  })

  test('goes back where it was when the chain refuses it for good', async () => {
    const person = await make()
    refusal = 'id_reused'
    const { body } = await withdraw(person)
    await pay()
    expect([await held(nameOf(person)), await held(account.payout(body.payout_id))]).toEqual([amount, 0n])
    refusal = undefined
    expect((await withdraw(person)).status).toBe(200)
    await soundBooks(market)
  })

  test('is not paid to who was sanctioned meanwhile, nor taken out by who is', async () => {
    const person = await make()
    const before = await onChain(person)
    await withdraw(person)
    sanctioned.add(walletOf(person))
    await pay()
    expect(await onChain(person)).toBe(before)
    expect((await held(nameOf(person))) + (await held(account.blocked(walletOf(person))))).toBe(amount)
    await soundBooks(market)
    expect(await withdraw(person)).toMatchObject({ status: 403, body: { code: 'sanctioned' } })
  })

  test('stays where it is while paid activity is paused', async () => {
    const [person, early] = [await make(), await make()]
    const before = await onChain(early)
    await withdraw(early)
    await setPaused(true)
    expect(await withdraw(person)).toMatchObject({ status: 503, body: { code: 'paused' } })
    await pay()
    expect([await held(nameOf(person)), await onChain(early)]).toEqual([amount, before])
    await setPaused(false)
    await pay()
    expect((await onChain(early)) - before).toBe(amount)
  })

  test('is not shelved by the cutover', async () => {
    const person = await make()
    const before = await onChain(person)
    await setCutover(true)
    expect((await withdraw(person)).status).toBe(200)
    await pay()
    await setCutover(false)
    expect((await onChain(person)) - before).toBe(amount)
  })

  test('is taken out once for an Idempotency-Key, and under nobody else’s', async () => {
    const [person, other] = [await make(), await make()]
    const headers = { 'Idempotency-Key': 'once' }
    const [first, ...rest] = await Promise.all([1, 2, 3, 4].map(() => withdraw(person, headers)))
    await pay()
    const again = await withdraw(person, headers)
    for (const one of [...rest, again]) expect([one.status, one.text]).toEqual([200, first?.text])
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect((await withdraw(other, headers)).body.payout_id).not.toBe(first?.body.payout_id)
  })

  test('leaves as one payout however many ask at once', async () => {
    const person = await make()
    const answers = await Promise.all(Array.from({ length: 16 }, () => withdraw(person)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(15).fill(409)])
    expect(await held(nameOf(person))).toBe(0n)
  })

  test('waits for the operator, visibly, where no key can pay', async () => {
    const person = await make()
    const { pays } = ctx().chain
    Object.assign(ctx().chain, { pays: false })
    const { body } = await withdraw(person)
    await pay()
    const { payouts: waiting } = (await market.admin('GET', '/dashboard/api/admin/payouts?status=needs_operator')).body
    expect(waiting.map((row: { id: string }) => row.id)).toContain(body.payout_id)
    Object.assign(ctx().chain, { pays })
    time.advance(HOUR_MS)
    await pay()
    expect(await held(account.payout(body.payout_id))).toBe(0n)
  })

  test.each(sides)('is neither lost nor paid twice by a crash %s any step', async (side) => {
    const steps = await crashAtEachStep(autoRefund, ctx(), {
      side,
      async arrange() {
        const person = await make()
        const before = await onChain(person)
        expect((await withdraw(person)).status).toBe(200)
        return { person, before }
      },
      async check({ person, before }) {
        expect([(await onChain(person)) - before, await held(nameOf(person))]).toEqual([amount, 0n])
      },
    })
    expect(steps).toBeGreaterThan(3)
    await soundBooks(market)
  })
})

describe('of a balance', () => {
  const withdraw = (person: Person, amount: unknown, headers?: Record<string, string>) =>
    send(person, '/v1/balance/withdraw', { body: { amount }, headers })

  test('the history names what left and what came back by the payout that carried it', async () => {
    const person = await holder('3.00')
    refusal = 'id_reused'
    const { body } = await withdraw(person, '2.50')
    await pay()
    const reference = { kind: 'payout', id: body.payout_id }
    expect((await history(person)).slice(0, 2)).toMatchObject([
      { type: 'withdrawal', amount: '2.50', balance_after: '3.00', reference },
      { type: 'withdrawal', amount: '-2.50', balance_after: '0.50', reference, id: body.transaction_id },
    ])
  })

  test.each(['0', '0.00', '-1.00', 'all', '1e3', '0.0000001', 5, null, '0.009999'])(
    '%j is no amount, and nothing moves',
    async (amount) => {
      const person = await holder('3.00')
      const { status, body } = await withdraw(person, amount)
      expect([status, body.details[0].path]).toEqual([400, 'amount'])
      expect(await held(account.balance(person.id))).toBe(3_000_000n)
    },
  )

  test('its last dust is not stuck', async () => {
    const person = await holder('0.000001')
    expect((await withdraw(person, '0.000001')).status).toBe(200)
  })

  test('more than is available stays, what a call reserved included', async () => {
    const person = await holder('3.00')
    await commit(ctx(), (t, draw) => {
      const legs = [{ from: account.balance(person.id), to: account.oper, amount: usdc(500_000n) }]
      return post(t, draw, { kind: 'adjustment', ref: { kind: 'test', id: 'x' }, legs, at: time.clock.now() })
    })
    const { status, body } = await withdraw(person, '2.500001')
    expect([status, body.code, body.available]).toEqual([409, 'conflict', '2.50'])
  })

  test('another amount with a used Idempotency-Key is refused', async () => {
    const person = await holder('3.00')
    const headers = { 'Idempotency-Key': 'k' }
    expect((await withdraw(person, '1.00', headers)).status).toBe(200)
    expect((await withdraw(person, '2.00', headers)).body.code).toBe('idempotency_mismatch')
  })

  test('a second payout of the wallet waits for the first, and the refusal names it', async () => {
    const person = await holder('3.00')
    const first = await withdraw(person, '1.00')
    const { status, body } = await withdraw(person, '1.00')
    expect([status, body.code, body.payout_id]).toEqual([409, 'conflict', first.body.payout_id])
    await pay()
    expect((await withdraw(person, '1.00')).status).toBe(200)
  })
})

describe('of referral money', () => {
  test('only what goes to the balance is shelved by the cutover, and the refusal says what is not', async () => {
    const person = await referrer()
    await setCutover(true)
    for (const body of [{}, { to: 'balance' }, { to: 'moon' }, { to: ['wallet'] }]) {
      const answer = await send(person, '/v1/referrals/withdraw', { body })
      expect([answer.status, answer.body.replacement]).toEqual([410, 'POST /v1/referrals/withdraw'])
      expect(answer.body.message).toContain('to: "wallet"')
    }
    await setCutover(false)
    expect(await held(account.referral(person.id))).toBe(2_000_000n)
  })

  test('who never earned any is told how it is earned', async () => {
    const person = await registered(market, { type: 'agent' })
    const { status, body } = await send(person, '/v1/referrals/withdraw', { body: {} })
    expect([status, body.code]).toEqual([409, 'conflict'])
    expect(body.message).toBe(
      `No referral earnings yet: you get a share of each sale by participants who register with ref_${person.id}.`,
    )
  })
})

type Act =
  | { readonly do: 'credit'; readonly amount: bigint }
  | { readonly do: 'balance'; readonly amount: bigint }
  | { readonly do: 'referral' }
  | { readonly do: 'pay' }
  | { readonly do: 'wait' }
  | { readonly do: 'chain'; readonly answers: TransferFailure | undefined }
  | { readonly do: 'list'; readonly isOn: boolean }

const amounts = fc.bigInt({ min: 1n, max: 6_000_000n })
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constant('credit' as const), amount: amounts }),
  fc.record({ do: fc.constant('balance' as const), amount: amounts }),
  ...(['referral', 'pay', 'wait'] as const).map((name) => fc.record({ do: fc.constant(name) })),
  fc.record({
    do: fc.constant('chain' as const),
    answers: fc.constantFrom<TransferFailure | undefined>(undefined, 'unavailable', 'id_reused'),
  }),
  fc.record({ do: fc.constant('list' as const), isOn: fc.boolean() }),
)

/** Everything that somebody has, wherever it is. */
async function wealth(person: Person): Promise<bigint> {
  const { rows } = await ctx()
    .store.table(payouts)
    .page('wallet', [walletOf(person)], { limit: 100 })
  const names = [...rows.map(({ id }) => account.payout(id)), account.blocked(walletOf(person))]
  names.push(account.balance(person.id), account.referral(person.id))
  const sums = await Promise.all(names.map(held))
  return sums.reduce((sum, one) => sum + one, await onChain(person))
}

type Acts = { readonly [K in Act['do']]: (person: Person, act: Extract<Act, { do: K }>) => unknown }

const acts: Acts = {
  credit: (person, { amount }) => credit(market, person.id, formatAmount(amount)),
  balance: (person, { amount }) => send(person, '/v1/balance/withdraw', { body: { amount: formatAmount(amount) } }),
  referral: (person) => send(person, '/v1/referrals/withdraw', { body: { to: 'wallet' } }),
  pay,
  wait: () => time.advance(HOUR_MS),
  chain(_person, { answers }) {
    refusal = answers
  },
  list: (person, { isOn }) => sanctioned[isOn ? 'add' : 'delete'](walletOf(person)),
}

const gainOf = (step: Act) => (step.do === 'credit' ? step.amount : 0n)

async function live(steps: readonly Act[]): Promise<void> {
  const person = await referrer(2_500_000n)
  let expected = await wealth(person)
  for (const step of steps) {
    await acts[step.do](person, step as never) // its own act's
    expected += gainOf(step)
    expect(await wealth(person)).toBe(expected)
  }
  refusal = undefined
  sanctioned.clear()
}

test('whatever is withdrawn, refused, blocked and retried, nothing is gained and nothing lost', async () => {
  const lives = fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 14 }), live)
  await fc.assert(lives, { numRuns: 25 })
  await soundBooks(market)
})
