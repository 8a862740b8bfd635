import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { dyingWorld, runOf, sides } from '../../../fixtures/kit/crash.ts'
import { runs } from '../../../fixtures/kit/depth.ts'
import { movableClock } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, fund, soundBooks } from '../../../fixtures/kit/money.ts'
import { noTicks } from '../../../fixtures/kit/time.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Hex, Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import type { CatchUp, MoneyMove } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { upkeepOf } from '../attention/upkeep.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { coldSweep } from './cold-sweep.ts'
import { openPayout, runPayouts } from './payouts.ts'
import { payouts } from './rows.ts'

// @slow random histories

/* What lies hot above its ceiling goes to the cold address, once, and never what is owed to others. */

const CEILING = 5_000_000n
const RUNS = runs(40, 12)
const [MIN_STEPS, MAX_STEPS] = [4, 12]
const newWallet = () => `0x${randomBytes(20).toString('hex')}` as Wallet

let market: Marketplace
let coldAddress: Wallet
let time: ReturnType<typeof movableClock>
/** What came back from the cold address, as transfers that nobody signed for this marketplace. */
let returned: MoneyMove[]
afterEach(() => market?.close())

async function open(): Promise<void> {
  await market?.close()
  coldAddress = newWallet()
  time = movableClock()
  returned = []
  const config = { coldAddress, hotCeiling: usdc(CEILING) }
  market = await openMarketplace(config, { clock: time.clock, ticker: noTicks })
}

const catchUp: CatchUp = {
  isDue: () => false,
  movements: async () => ({ rows: [], deposits: [], isWhole: true }),
  end: async () => undefined,
  received: async (_, since = 0) => ({ rows: returned.slice(since), next: returned.length }),
}
/** The chain of the sandbox, whose cold address can send money without an authorization. */
const ctx = (): Context => ({ ...market.daemon.ctx, chain: { ...market.daemon.ctx.chain, catchUp } })
const held = (name: string) => balanceOfAccount(market, name)
const hot = () => ctx().chain.balanceOf(ctx().chain.payTo)
const cold = () => ctx().chain.balanceOf(coldAddress)

/** Money in an account of the books, and on the chain. */
async function credit(name: string, micro: bigint): Promise<void> {
  const amount = usdc(micro)
  await fund(ctx().chain, amount, ctx().clock.wall())
  const legs = [{ from: account.ext, to: name, amount }]
  const entry = { kind: 'deposit', ref: { kind: 'test', id: name }, legs, at: ctx().clock.now() } as const
  await commit(ctx(), (t, draw) => post(t, draw, entry))
}

/** Money that the cold address sends back. It comes from the faucet: the address keeps what it was sent. */
async function sendBack(micro: bigint, change: Partial<MoneyMove> = {}): Promise<void> {
  const value = usdc(micro)
  const transaction: Hex = `0x${String(returned.length).padStart(64, '0')}`
  await fund(ctx().chain, value, ctx().clock.wall())
  returned.push({ id: `${transaction}:0`, from: coldAddress, to: ctx().chain.payTo, value, transaction, ...change })
}

/** All that the books owe to others than the operator. */
async function owed(): Promise<bigint> {
  return -(await held(account.ext)) - (await held(account.oper)) - (await held(account.cold))
}

async function warnings(): Promise<string[]> {
  const found = await upkeepOf(ctx(), ctx().clock.now())
  return found.flatMap(({ kind, items }) => (kind === 'hot_balance' ? items.map(({ sentence }) => sentence) : []))
}

test('what is above the ceiling lies cold, and the books say how much', async () => {
  await open()
  await credit(account.oper, 9_000_000n)
  expect(await runOf(coldSweep, ctx())).toBeUndefined()
  expect([await hot(), await cold(), await held(account.cold)]).toEqual([CEILING, 4_000_000n, -4_000_000n])
  const { checks } = await soundBooks(market)
  expect(checks.find(({ name }) => name === 'chain')?.detail).toContain('4.00 went to the cold address')
  expect(await warnings()).toEqual([])
  await runOf(coldSweep, ctx())
  expect(await cold()).toBe(4_000_000n)
})

test('what the cold address sends back is booked once, and may go cold again', async () => {
  await open()
  await credit(account.oper, 9_000_000n)
  await runOf(coldSweep, ctx())
  await sendBack(500_000n)
  await runOf(coldSweep, ctx())
  await runOf(coldSweep, ctx())
  expect([await hot(), await held(account.cold)]).toEqual([CEILING + 500_000n, -3_500_000n])
  await soundBooks(market)
  await sendBack(2_000_000n)
  await runOf(coldSweep, ctx())
  expect([await hot(), await held(account.cold)]).toEqual([CEILING, -4_000_000n])
  await soundBooks(market)
  // A purchase by the cold wallet is a payment, which has its own entries: here none, so it is only swept.
  await sendBack(1_000_000n, { nonce: `0x${'1'.repeat(64)}` })
  await runOf(coldSweep, ctx())
  expect(await held(account.cold)).toBe(-5_000_000n)
})

test('what is owed to others stays, and is told while it is above the ceiling', async () => {
  await open()
  await credit(account.provider('p_1'), 20_000_000n)
  await credit(account.oper, 3_000_000n)
  await runOf(coldSweep, ctx())
  expect([await hot(), await cold()]).toEqual([20_000_000n, 3_000_000n])
  expect(await warnings()).toEqual([expect.stringContaining('$20.00, more than --hot-ceiling 5.00')])
})

test('without a cold address, or during a pause, nothing moves', async () => {
  market = await openMarketplace({ hotCeiling: usdc(CEILING) }, { ticker: noTicks })
  expect(await runOf(coldSweep, ctx())).toBeUndefined()
  await open()
  await credit(account.oper, 9_000_000n)
  expect((await market.admin('POST', '/dashboard/api/admin/platform/pause')).status).toBe(200)
  expect(await runOf(coldSweep, ctx())).toEqual({ skip: 'paused' })
  expect(await cold()).toBe(0n)
})

type Step =
  | { readonly do: 'earn' | 'owe' | 'pay'; readonly micro: bigint }
  | { readonly do: 'sweep' }
  | { readonly do: 'kill'; readonly at: number; readonly side: (typeof sides)[number]; readonly back: bigint }
  | { readonly do: 'wait' }

const micro = fc.integer({ min: 1, max: 12 }).map((times) => BigInt(times) * 900_001n)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('earn' as const, 'owe' as const, 'pay' as const), micro }),
  fc.constant({ do: 'sweep' as const }),
  fc.record({
    do: fc.constant('kill' as const),
    at: fc.integer({ min: 1, max: 7 }),
    side: fc.constantFrom(...sides),
    back: fc.oneof(fc.constant(0n), micro),
  }),
  fc.constant({ do: 'wait' as const }),
)

const DEBT = account.provider('p_debt')

async function take(one: Step): Promise<void> {
  if (one.do === 'earn') await credit(account.oper, one.micro)
  if (one.do === 'owe') await credit(DEBT, one.micro)
  if (one.do === 'pay') await pay(one.micro)
  if (one.do === 'sweep') await runOf(coldSweep, ctx())
  if (one.do === 'wait') {
    time.advance(HOUR_MS)
    await runPayouts(ctx())
  }
  if (one.do === 'kill') {
    const lies = -(await held(account.cold))
    if (one.back > 0n && one.back <= lies) await sendBack(one.back)
    const dying = dyingWorld(ctx(), one.at, one.side)
    await runOf(coldSweep, dying.ctx).catch((error: unknown) => {
      if (!dying.died()) throw error
    })
    await runOf(coldSweep, ctx())
  }
}

/** Pays a part of the debt to a new wallet. */
async function pay(most: bigint): Promise<void> {
  const debt = await held(DEBT)
  const amount = usdc(most < debt ? most : debt)
  const order = {
    kind: 'settlement',
    wallet: newWallet(),
    source: DEBT,
    amount,
    ref: { kind: 'test', id: 'pay' },
  } as const
  await commit(ctx(), (t, draw) => openPayout(t, draw, { ...order, at: ctx().clock.now() }))
}

test('histories of sales, payouts, sweeps and kills keep books and chain equal, and what is owed hot', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: MIN_STEPS, maxLength: MAX_STEPS }), async (history) => {
      await open()
      for (const one of history) {
        await take(one)
        await soundBooks(market)
        expect(await hot()).toBeGreaterThanOrEqual((await owed()) - (await leaving()))
      }
      time.advance(HOUR_MS)
      await runPayouts(ctx())
      await runOf(coldSweep, ctx())
      await soundBooks(market)
      const { rows } = await ctx().store.table(payouts).page('newest', [], { limit: 100 })
      expect(rows.filter(({ open: isOpen }) => isOpen)).toEqual([])
      const sent = rows.filter(({ kind }) => kind === 'cold').reduce((sum, { amount }) => sum + amount, 0n)
      const back = returned.reduce((sum, { value }) => sum + value, 0n)
      expect([await cold(), -(await held(account.cold))]).toEqual([sent, sent - back])
      const above = (await hot()) - CEILING
      const own = (await held(account.oper)) - sent + back
      // Less than a dollar is not worth its gas.
      expect(above < own ? above : own).toBeLessThan(1_000_000n)
    }),
    { numRuns: RUNS },
  )
})

/** Payouts that may have left the chain before the books. */
async function leaving(): Promise<bigint> {
  const { rows } = await ctx().store.table(payouts).page('due', [], { limit: 100 })
  return rows.reduce((sum, { amount }) => sum + amount, 0n)
}
