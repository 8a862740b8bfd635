import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { chainWith, movableClock } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, soundBooks } from '../../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { writePlatform } from '../../kernel/switches.ts'
import type { Ports } from '../../outside.ts'
import type { ChainPort, PayoutOrder, TransferFailure, TransferResult } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { openPayout, openRefund, runPayouts } from './payouts.ts'
import { type PayoutRow, payouts } from './rows.ts'

const ref = { kind: 'test', id: 'x' }
const amount = usdc(70_000n)

let market: Marketplace
afterEach(() => market.close())

async function open(ports: Ports = {}): Promise<void> {
  market = await openMarketplace({}, ports)
}

const newWallet = () => `0x${randomBytes(20).toString('hex')}` as Wallet
const onChain = (wallet: Wallet) => market.daemon.ctx.chain.balanceOf(wallet)
const run = () => runPayouts(market.daemon.ctx)

async function allPayouts(): Promise<readonly PayoutRow[]> {
  return (await market.daemon.ctx.store.table(payouts).page('newest', [], { limit: 100, order: 'asc' })).rows
}

/** A settled payment whose effect was refused, as the gate leaves it. */
async function owe(wallet: Wallet): Promise<void> {
  const { ctx } = market.daemon
  await ctx.chain.faucet?.({ wallet: ctx.chain.payTo, amount, nowMs: 0 })
  await commit(ctx, async (t, draw) => {
    const at = ctx.clock.now()
    await post(t, draw, { kind: 'refund', ref, legs: legsOf.settledRefused({ payer: wallet, amount }), at })
    await openRefund(t, draw, { wallet, ref, at })
  })
}

test('a refund arrives once, and the books follow', async () => {
  await open()
  const wallet = newWallet()
  await owe(wallet)
  await soundBooks(market)
  expect(await run()).toEqual({ confirmed: 1, waiting: 0, failed: 0 })
  expect(await run()).toEqual({ confirmed: 0, waiting: 0, failed: 0 })
  expect(await onChain(wallet)).toBe(amount)
  const [payout] = await allPayouts()
  expect(payout).toMatchObject({ status: 'confirmed', open: false, transaction: expect.stringMatching(/^0x/) })
  await soundBooks(market)
})

test('eight runs at once pay it once', async () => {
  await open()
  const wallet = newWallet()
  await owe(wallet)
  await Promise.all(Array.from({ length: 8 }, run))
  expect(await onChain(wallet)).toBe(amount)
  await soundBooks(market)
})

test('what comes due while a payout is open waits for it, and then follows', async () => {
  await open()
  const wallet = newWallet()
  await owe(wallet)
  await owe(wallet)
  expect(await allPayouts()).toHaveLength(1)
  await soundBooks(market)
  await run()
  await run()
  expect((await allPayouts()).map((row) => [row.status, row.amount])).toEqual([
    ['confirmed', amount],
    ['confirmed', amount],
  ])
  expect(await onChain(wallet)).toBe(amount * 2n)
  await soundBooks(market)
})

describe('a chain that', () => {
  const { clock, advance } = movableClock()

  /** Answers with these, one after the other, then for real; what a call did before it failed stays done. */
  async function openWith(answers: (TransferFailure | 'throws' | 'paid, then throws')[]): Promise<PayoutOrder[]> {
    const orders: PayoutOrder[] = []
    const transfer = async (real: ChainPort, order: PayoutOrder): Promise<TransferResult> => {
      const answer = answers.shift() ?? 'paid'
      if (answer.startsWith('paid')) {
        const result = await real.transfer(order)
        if (answer === 'paid') return result
      }
      if (answer.endsWith('throws')) throw new Error('connection reset')
      return { ok: false, failure: answer as TransferFailure }
    }
    await open({
      clock,
      chain: chainWith((real) => ({
        transfer: (order) => {
          orders.push(order)
          return transfer(real, order)
        },
      })),
    })
    return orders
  }

  test.each([
    'unavailable',
    'insufficient_funds',
    'payee_blocked',
    'token_paused',
    'throws',
    'paid, then throws',
  ] as const)('%s gets the same order again later, and pays it once', async (answer) => {
    const orders = await openWith([answer, answer])
    const wallet = newWallet()
    await owe(wallet)
    expect(await run()).toEqual({ confirmed: 0, waiting: 1, failed: 0 })
    expect(await run()).toEqual({ confirmed: 0, waiting: 0, failed: 0 })
    const [waiting] = await allPayouts()
    expect([waiting?.status, waiting?.attempts, (waiting?.next_attempt_at ?? 0) > clock.now()]).toEqual([
      'sent',
      1,
      true,
    ])
    await soundBooks(market)
    advance(HOUR_MS)
    await market.restart()
    advance(HOUR_MS)
    await run()
    expect(orders).toEqual([orders[0], orders[0], orders[0]])
    expect(await onChain(wallet)).toBe(amount)
    expect(await balanceOfAccount(market, account.refund(wallet))).toBe(0n)
    await soundBooks(market)
  })

  test('knows the id as another payout: the money is kept, and shows among the holds', async () => {
    await openWith(['id_reused'])
    const wallet = newWallet()
    await owe(wallet)
    expect(await run()).toEqual({ confirmed: 0, waiting: 0, failed: 1 })
    expect(await balanceOfAccount(market, account.blocked(wallet))).toBe(amount)
    const { body } = await market.admin('GET', '/dashboard/api/admin/holds?kind=blk')
    expect(body.holds).toMatchObject([{ amount: '0.07', owner: { kind: 'wallet', id: wallet } }])
    await soundBooks(market)
  })
})

test('without a key to pay with payouts wait for the operator, visibly, and go out when one comes', async () => {
  const { clock, advance } = movableClock()
  await open({ clock, chain: chainWith(() => ({ pays: false })) })
  const wallet = newWallet()
  await owe(wallet)
  expect(await run()).toEqual({ confirmed: 0, waiting: 1, failed: 0 })
  const { body } = await market.admin('GET', '/dashboard/api/admin/payouts?status=needs_operator')
  expect(body.payouts).toMatchObject([{ status: 'needs_operator', last_error: 'the signing key is missing' }])
  const { holds } = (await market.admin('GET', '/dashboard/api/admin/holds?kind=out')).body
  expect(holds).toMatchObject([{ next_event: 'sent', reason: expect.stringContaining('needs_operator') }])
  await soundBooks(market)
  Object.assign(market.daemon.ctx.chain, { pays: true })
  advance(HOUR_MS)
  expect(await run()).toEqual({ confirmed: 1, waiting: 0, failed: 0 })
  expect(await onChain(wallet)).toBe(amount)
  await soundBooks(market)
})

describe('a wallet that may not be paid', () => {
  const { clock, advance } = movableClock()
  const listed = new Set<string>()

  test('gets nothing while it is listed, and all of it when it was cleared', async () => {
    await open({ clock, isSanctioned: async (wallet) => listed.has(wallet) })
    const wallet = newWallet()
    listed.add(wallet)
    await owe(wallet)
    await owe(wallet)
    await run()
    await run()
    expect(await balanceOfAccount(market, account.blocked(wallet))).toBe(amount * 2n)
    expect(await onChain(wallet)).toBe(0n)
    await soundBooks(market)
    advance(DAY_MS)
    await run()
    expect(await onChain(wallet)).toBe(0n)
    listed.delete(wallet)
    advance(DAY_MS)
    await run()
    await run()
    expect(await onChain(wallet)).toBe(amount * 2n)
    expect(await balanceOfAccount(market, account.blocked(wallet))).toBe(0n)
    await soundBooks(market)
  })

  test('keeps what may have been sent to it on its way: that is not taken back in the books', async () => {
    let down = true
    await open({
      clock,
      isSanctioned: async (wallet) => listed.has(wallet),
      chain: chainWith((real) => ({
        transfer: async (order) => {
          const result = await real.transfer(order)
          return down ? { ok: false, failure: 'unavailable' } : result
        },
      })),
    })
    const wallet = newWallet()
    await owe(wallet)
    await run()
    listed.add(wallet)
    advance(HOUR_MS)
    await run()
    expect(await balanceOfAccount(market, account.blocked(wallet))).toBe(0n)
    await soundBooks(market)
    listed.delete(wallet)
    down = false
    advance(HOUR_MS)
    await run()
    expect(await onChain(wallet)).toBe(amount)
    await soundBooks(market)
  })
})

test('while paused refunds go on and settlements wait', async () => {
  await open()
  const { ctx } = market.daemon
  const [buyer, provider] = [newWallet(), newWallet()]
  await owe(buyer)
  await ctx.chain.faucet?.({ wallet: ctx.chain.payTo, amount, nowMs: 0 })
  await commit(ctx, async (t, draw) => {
    const legs = [{ from: account.ext, to: account.provider('p_1'), amount }]
    await post(t, draw, { kind: 'instant_sale', ref, legs, at: 1 })
    const source = account.provider('p_1')
    await openPayout(t, draw, { kind: 'settlement', wallet: provider, source, ref, at: 1 })
    await writePlatform(t, { paused_at: 1 })
  })
  while (!ctx.switches.now().paused) await new Promise(setImmediate)
  await run()
  expect([await onChain(buyer), await onChain(provider)]).toEqual([amount, 0n])
  await commit(ctx, (t) => writePlatform(t, { paused_at: null }))
  while (ctx.switches.now().paused) await new Promise(setImmediate)
  await run()
  expect(await onChain(provider)).toBe(amount)
  await soundBooks(market)
})

test('the list of payouts shows their state', async () => {
  await open()
  const wallet = newWallet()
  await owe(wallet)
  const listed = async (query: string) => (await market.admin('GET', `/dashboard/api/admin/payouts${query}`)).body
  expect(await listed('?status=created')).toMatchObject({ total: 1, payouts: [{ amount: '0.07', attempts: 0 }] })
  await run()
  expect(await listed('?status=created')).toMatchObject({ total: 0, payouts: [] })
  expect(await listed('')).toMatchObject({
    total: 1,
    payouts: [{ status: 'confirmed', reference: ref, blocked: false }],
  })
})
