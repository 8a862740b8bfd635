import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crashAtEachStep, runOf, sides } from '../../../fixtures/kit/crash.ts'
import { chainWith, movableClock } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, soundBooks } from '../../../fixtures/kit/money.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Person, registered } from '../../../fixtures/market/people.ts'
import { toWallet, type Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import type { Cron } from '../../crons/cron.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { referralRewards } from '../referrals/referral-rewards.ts'
import { providerSettlement } from './provider-settlement.ts'
import { payouts } from './rows.ts'
import { splitterDistribute } from './splitter-distribute.ts'

// @slow payouts over days of business time

/* What was earned reaches who earned it, once, wherever the process dies. */

const newWallet = () => `0x${randomBytes(20).toString('hex')}` as Wallet
const PAYEES = { first: newWallet(), second: newWallet() }

let market: Marketplace
/** The chain's answer to transfers, where it is not to do them. */
let refusal: 'unavailable' | 'id_reused' | undefined
const sanctioned = new Set<Wallet>()
const time = movableClock()

beforeAll(async () => {
  const chain = chainWith((real) => ({
    transfer: async (order) => (refusal ? { ok: false, failure: refusal } : real.transfer(order)),
  }))
  const payees = [
    { to: 'operator', bps: 5_000n },
    { to: PAYEES.first, bps: 3_000n },
    { to: PAYEES.second, bps: 2_000n },
  ] as const
  const isSanctioned = async (wallet: Wallet) => sanctioned.has(wallet)
  market = await openMarketplace({ payees }, { chain, clock: time.clock, isSanctioned, ticker: noTicks })
})
afterAll(() => market.close())

const ctx = () => market.daemon.ctx
const run = (cron: Cron) => runOf(cron, ctx())
const held = (name: string) => balanceOfAccount(market, name)
const onChain = (wallet: Wallet) => ctx().chain.balanceOf(wallet)
const walletOf = (person: Person) => toWallet(person.account.address)

/** Money earned in the books and there on the chain. */
async function earn(name: string, amount: bigint): Promise<void> {
  const { chain, clock } = ctx()
  await chain.faucet?.({ wallet: chain.payTo, amount: usdc(amount), nowMs: time.clock.now() })
  await commit(ctx(), (t, draw) =>
    post(t, draw, {
      kind: 'deposit',
      ref: { kind: 'test', id: name },
      legs: [{ from: account.ext, to: name, amount: usdc(amount) }],
      at: clock.now(),
    }),
  )
}

async function sellers(count: number, amount: bigint): Promise<Person[]> {
  const made: Person[] = []
  for (let n = 0; n < count; n += 1) {
    const one = await registered(market, { type: 'provider' })
    await earn(account.provider(one.id), amount + BigInt(n))
    made.push(one)
  }
  return made
}

async function houseId(): Promise<string> {
  const { rows } = await ctx().store.table(participants).page('newest', [], { limit: 100, order: 'asc' })
  return rows.find((row) => row.first_party)?.id ?? ''
}

const pauseAll = (isPaused: boolean) =>
  market.admin('POST', `/dashboard/api/admin/platform/${isPaused ? 'pause' : 'unpause'}`)

/** What the marketplace earned by the calls of the test itself. */
async function sweep(): Promise<void> {
  await run(providerSettlement)
  await run(splitterDistribute)
}

describe.each(sides)('a crash %s each step', (side) => {
  test('of referral-rewards: what was pending is payable once, and kept from the sanctioned', async () => {
    const steps = await crashAtEachStep(referralRewards, ctx(), {
      side,
      async arrange() {
        const [one, other, barred, late] = await Promise.all(
          Array.from({ length: 4 }, () => registered(market, { type: 'agent' })),
        )
        if (!one || !other || !barred || !late) throw new Error('four were registered')
        await earn(account.referralPending(one.id), 400_000n)
        await earn(account.referralPending(other.id), 1n)
        await earn(account.referralPending(barred.id), 50_000n)
        await earn(account.referral(late.id), 60_000n)
        sanctioned.add(walletOf(barred)).add(walletOf(late))
        return { one, other, barred, late }
      },
      async check({ one, other, barred, late }) {
        expect(await held(account.referral(one.id))).toBe(400_000n)
        expect(await held(account.referral(other.id))).toBe(1n)
        expect(await held(account.referral(barred.id))).toBe(0n)
        expect(await held(account.blocked(walletOf(barred)))).toBe(50_000n)
        expect(await held(account.blocked(walletOf(late)))).toBe(60_000n)
        for (const person of [one, other, barred]) expect(await held(account.referralPending(person.id))).toBe(0n)
      },
    })
    expect(steps).toBe(4)
    await soundBooks(market)
  })

  test('of provider-settlement: each provider is paid once, the house in the books', async () => {
    await sweep()
    const steps = await crashAtEachStep(providerSettlement, ctx(), {
      side,
      async arrange() {
        const [one, other, barred] = await sellers(3, 300_000n)
        if (!one || !other || !barred) throw new Error('three were registered')
        sanctioned.add(walletOf(barred))
        const house = account.provider(await houseId())
        await earn(house, 7n)
        const before = { oper: await held(account.oper), wallets: [] as bigint[] }
        for (const person of [one, other]) before.wallets.push(await onChain(walletOf(person)))
        return { one, other, barred, house, before }
      },
      async check({ one, other, barred, house, before }) {
        const gained = async (person: Person, n: number) =>
          (await onChain(walletOf(person))) - (before.wallets[n] as bigint)
        expect([await gained(one, 0), await gained(other, 1)]).toEqual([300_000n, 300_001n])
        expect(await held(account.blocked(walletOf(barred)))).toBe(300_002n)
        expect((await held(account.oper)) - before.oper).toBe(7n)
        for (const name of [house, ...[one, other, barred].map(({ id }) => account.provider(id))]) {
          expect(await held(name)).toBe(0n)
        }
      },
    })
    expect(steps).toBe(4 + 2 * 4)
    await soundBooks(market)
  })

  test('of splitter-distribute: each payee gets its share once, the dust stays', async () => {
    await sweep()
    const steps = await crashAtEachStep(splitterDistribute, ctx(), {
      side,
      async arrange() {
        const dust = { fees: await held('fees'), ops: await held('ops') }
        await earn('fees', 1_000_001n - dust.fees)
        await earn('ops', 99_999n - dust.ops)
        const before = [await held(account.oper), await onChain(PAYEES.first), await onChain(PAYEES.second)]
        return before
      },
      async check(before) {
        const after = [await held(account.oper), await onChain(PAYEES.first), await onChain(PAYEES.second)]
        const gained = after.map((amount, n) => amount - (before[n] as bigint))
        expect(gained).toEqual([500_000n + 49_999n, 300_000n + 29_999n, 200_000n + 19_999n])
        expect([await held('fees'), await held('ops')]).toEqual([1n, 2n])
      },
    })
    expect(steps).toBe(2 * (1 + 2 * 4))
    await soundBooks(market)
  })
})

test.each([referralRewards, providerSettlement, splitterDistribute])(
  '$name rests while paid activity is paused, and does it all afterwards',
  async (cron) => {
    const person = await registered(market, { type: 'provider' })
    await earn(account.referralPending(person.id), 5n)
    await earn(account.provider(person.id), 6n)
    await earn('fees', 1_000n)
    const names = [account.referralPending(person.id), account.provider(person.id), 'fees']
    const before = await Promise.all(names.map(held))
    await pauseAll(true)
    expect(await run(cron)).toEqual({ skip: 'paused' })
    expect(await cron.nextDue?.(ctx(), 0)).toBeNull()
    expect(await Promise.all(names.map(held))).toEqual(before)
    await pauseAll(false)
    expect(await cron.nextDue?.(ctx(), 0)).toBe(0)
    expect(await run(cron)).toBeUndefined()
    expect(await Promise.all(names.map(held))).not.toEqual(before)
    expect(await cron.nextDue?.(ctx(), 0)).toBeNull()
    await soundBooks(market)
  },
)

test('eight runs at once pay once', async () => {
  const [seller] = await sellers(1, 250_000n)
  if (!seller) throw new Error('one was registered')
  await earn(account.referralPending(seller.id), 30n)
  const before = await onChain(walletOf(seller))
  const crons = [referralRewards, providerSettlement, splitterDistribute]
  await Promise.all(Array.from({ length: 8 }, (_, n) => run(crons[n % crons.length] as Cron)))
  expect((await onChain(walletOf(seller))) - before).toBe(250_000n)
  expect(await held(account.referral(seller.id))).toBe(30n)
  await soundBooks(market)
})

describe('a settlement that', () => {
  test('the chain does not take stays set aside, with a time, and what is earned meanwhile follows', async () => {
    const [seller] = await sellers(1, 100_000n)
    if (!seller) throw new Error('one was registered')
    const before = await onChain(walletOf(seller))
    refusal = 'unavailable'
    await run(providerSettlement)
    await earn(account.provider(seller.id), 11n)
    await run(providerSettlement)
    refusal = undefined
    expect(await held(account.provider(seller.id))).toBe(11n)
    await soundBooks(market)
    const { body } = await market.admin('GET', '/dashboard/api/admin/holds?kind=out')
    expect(body.holds).toMatchObject([{ amount: '0.10', next_event: 'sent' }])
    time.advance(HOUR_MS)
    await run(providerSettlement)
    await run(providerSettlement)
    expect((await onChain(walletOf(seller))) - before).toBe(100_011n)
    await soundBooks(market)
  })

  test('fails for good is owed again, and paid by the next run', async () => {
    const [seller] = await sellers(1, 100_000n)
    if (!seller) throw new Error('one was registered')
    const before = await onChain(walletOf(seller))
    refusal = 'id_reused'
    await run(providerSettlement)
    expect(await held(account.provider(seller.id))).toBe(100_000n)
    const { rows } = await ctx()
      .store.table(payouts)
      .page('source', [account.provider(seller.id)], { limit: 5 })
    expect(rows.map(({ status, open }) => [status, open])).toEqual([['failed', false]])
    refusal = undefined
    await run(providerSettlement)
    expect((await onChain(walletOf(seller))) - before).toBe(100_000n)
    await soundBooks(market)
  })
})

test('what is kept from a sanctioned wallet goes back, and on, when it is cleared', async () => {
  await sweep()
  const [seller] = await sellers(1, 100_000n)
  if (!seller) throw new Error('one was registered')
  const wallet = walletOf(seller)
  await earn(account.referralPending(seller.id), 40_000n)
  // The registration is in `ops`: of each of the two the payee has three tenths.
  await earn('fees', 10_000n)
  sanctioned.add(wallet).add(PAYEES.first)
  const before = [await onChain(wallet), await onChain(PAYEES.first)] as const
  await run(referralRewards)
  await sweep()
  expect(await held(account.blocked(wallet))).toBe(140_000n)
  expect(await held(account.blocked(PAYEES.first))).toBe(6_000n)
  await soundBooks(market)
  const { body } = await market.admin('GET', '/dashboard/api/admin/holds?kind=blk&limit=100')
  const mine = body.holds.filter((hold: { owner: { id: string } }) => hold.owner.id === wallet)
  expect(mine).toMatchObject([{ amount: '0.14', reason: 'the wallet is sanctioned', next_event: 'next check' }])
  time.advance(DAY_MS)
  await sweep()
  expect(await held(account.blocked(wallet))).toBe(140_000n)
  sanctioned.delete(wallet)
  sanctioned.delete(PAYEES.first)
  time.advance(DAY_MS)
  await sweep()
  time.advance(HOUR_MS)
  await sweep()
  expect(await held(account.referral(seller.id))).toBe(40_000n)
  expect((await onChain(wallet)) - before[0]).toBe(100_000n)
  expect((await onChain(PAYEES.first)) - before[1]).toBe(6_000n)
  expect([await held(account.blocked(wallet)), await held(account.blocked(PAYEES.first))]).toEqual([0n, 0n])
  await soundBooks(market)
})

test('a clock that is moved stops at the hour at which money is due', async () => {
  const [seller] = await sellers(1, 20_000n)
  if (!seller) throw new Error('one was registered')
  expect(await providerSettlement.nextDue?.(ctx(), 5)).toBe(5)
  await run(providerSettlement)
  expect(await providerSettlement.nextDue?.(ctx(), 5)).toBeNull()
})
