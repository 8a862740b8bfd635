import { afterEach, expect, test } from 'vitest'
import { chainWith } from '../../../fixtures/kit/faults.ts'
import { balanceOfAccount, listing, member, payFor, soundBooks } from '../../../fixtures/kit/money.ts'
import { type Marketplace, openMarketplace, signPayment } from '../../../fixtures/market/marketplace.ts'
import { type Hex, toWallet } from '../../../src/core/hex.ts'
import { formatAmount, usdc } from '../../../src/core/money.ts'
import { adminActs, events } from '../../events/rows.ts'
import type { Reversal } from '../../ports/chain/chain.ts'
import { commit } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import { account } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { type AccountRow, accounts } from '../ledger/rows.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { bearers, coverLosses, payAllWithheld } from './reversed.ts'
import { type PaymentRow, payments } from './rows.ts'

// @slow every kind of payment that a chain takes back

let market: Marketplace
/** Says that the chain undid a payment for good, and takes its money out of the wallet that got it. */
let undo: (payment: PaymentRow) => Promise<void>
/** Says that the money of such a payment is there after all, and puts it there. */
let bringBack: (payment: PaymentRow) => Promise<void>
afterEach(() => market.close())

async function open(): Promise<void> {
  const listeners: ((reversal: Reversal) => void)[] = []
  /** What the chain holds less than the ledger under it thinks. */
  let gone = 0n
  const chain = chainWith((real) => ({
    balanceOf: async (wallet) => usdc((await real.balanceOf(wallet)) - (wallet === real.payTo ? gone : 0n)),
    onReversed: (listener) => {
      listeners.push(listener)
      return () => undefined
    },
  }))
  market = await openMarketplace({}, { chain })
  const undone = new Set<string>()
  undo = async ({ id, payer, price, transaction, authorization }) => {
    if (!undone.has(id)) gone += price
    undone.add(id)
    const nonce = authorization?.nonce as Hex // of an x402 payment
    for (const listener of listeners) listener({ from: payer, nonce, value: price, transaction: transaction as Hex })
    await expect.poll(async () => (await market.daemon.ctx.store.table(payments).get(id))?.state).toBe('reversed')
  }
  bringBack = async ({ id, payer, price, authorization }) => {
    if (undone.delete(id)) gone -= price
    const reversal = { from: payer, nonce: authorization?.nonce as Hex, value: price, transaction: '0x01' } as const // of an x402 payment
    for (const listener of listeners) listener({ ...reversal, returned: '0x02' })
    await expect.poll(async () => (await market.daemon.ctx.store.table(payments).get(id))?.state).not.toBe('reversed')
  }
}

async function paymentOf(receiptId: string): Promise<PaymentRow> {
  const { rows } = await market.daemon.ctx.store.table(payments).page('receipt', [receiptId], { limit: 1 })
  return rows[0] as PaymentRow
}

async function newestOf(wallet: string): Promise<PaymentRow> {
  const { rows } = await market.daemon.ctx.store.table(payments).page('payer', [toWallet(wallet)], { limit: 1 })
  return rows[0] as PaymentRow
}

/** What the marketplace has earned. */
async function earn(amount: bigint): Promise<void> {
  const { ctx } = market.daemon
  await ctx.chain.faucet?.({ wallet: ctx.chain.payTo, amount: usdc(amount), nowMs: ctx.clock.wall() })
  await commit(ctx, (t, draw) =>
    post(t, draw, {
      kind: 'fixed_price_call',
      ref: { kind: 'test', id: 'earned' },
      legs: [{ from: account.ext, to: account.ops, amount: usdc(amount) }],
      at: ctx.clock.now(),
    }),
  )
}

/** All that the marketplace has goes out. */
async function spendAll(): Promise<void> {
  const { ctx } = market.daemon
  const legs = await Promise.all(
    bearers.map(async (from) => ({ from, to: account.ext, amount: usdc(await balanceOfAccount(market, from)) })),
  )
  const ref = { kind: 'test', id: 'spent' }
  const some = legs.filter(({ amount }) => amount > 0n)
  await commit(ctx, (t, draw) => post(t, draw, { kind: 'payout', ref, legs: some, at: ctx.clock.now() }))
}

/** What is owed to providers. */
async function soldFor(): Promise<readonly AccountRow[]> {
  return (await market.daemon.ctx.store.table(accounts).page('kind', ['prov'], { limit: 10 })).rows
}

const total = () => Promise.all([account.oper, account.ops, account.fees].map((name) => balanceOfAccount(market, name)))
const owned = async () => (await total()).reduce((sum, one) => sum + one, 0n)

test('what an instant sale brought in is borne by what the marketplace has, now or later, never by who sold it', async () => {
  await open()
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const buyer = await market.buyer('1.00')
  const bought = await payFor(market, buyer, { path, body: { data: 'x' } })
  expect(bought.status).toBe(200)
  const payment = await newestOf(buyer.wallet)
  const sold = await soldFor()
  const before = await owned()
  await undo(payment)
  const [oper, ops, fees] = await total()
  expect([oper, ops, fees]).toEqual([0n, 0n, 0n])
  expect(await soldFor()).toEqual(sold)
  expect((await newestOf(buyer.wallet)).uncovered).toBe(payment.price - before)
  await expect(soundBooks(market)).rejects.toThrow(/earnings do not cover/)
  await undo(payment)
  expect((await newestOf(buyer.wallet)).uncovered).toBe(payment.price - before)
  await earn(1_000_000n)
  await coverLosses(market.daemon.ctx)
  expect((await newestOf(buyer.wallet)).uncovered).toBeUndefined()
  expect(await owned()).toBe(1_000_000n + before - payment.price)
  await soundBooks(market)
  await bringBack(payment)
  expect(await owned()).toBe(1_000_000n + before)
  await soundBooks(market)
})

test('a deposit that was undone is taken out of the balance that it had credited, as far as that is there', async () => {
  await open()
  const one = await member(market, { wallet: '20.00' })
  const deposited = await payFor(market, one, { path: '/v1/balance/deposit', body: { amount: '5.00' } })
  expect(deposited.status).toBe(200)
  const deposit = await newestOf(one.wallet)
  const path = `/v1/services/${await market.serviceId('qr_code')}/purchase`
  const headers = { 'X-BALANCE-AUTH': one.apiKey }
  expect((await market.call('POST', path, { body: { data: 'x' }, headers })).status).toBe(200)
  const left = await balanceOfAccount(market, account.balance(one.id))
  await undo(deposit)
  expect(await balanceOfAccount(market, account.balance(one.id))).toBe(0n)
  expect(left).toBeLessThan(5_000_000n)
  const history = await market.call('GET', '/v1/balance/history', {
    headers: { Authorization: `Bearer ${one.apiKey}` },
  })
  expect(history.body.entries[0]).toMatchObject({ type: 'adjustment', amount: '-4.99', balance_after: '0.00' })
  await bringBack(deposit)
  expect(await balanceOfAccount(market, account.balance(one.id))).toBe(left)
  await soundBooks(market)
  const { store } = market.daemon.ctx
  const told = (await everyRow(store.table(events), { index: 'seq', prefix: [], limit: 500 })).slice(-4)
  const types = ['admin.balance_adjusted', 'payment.reversed', 'admin.balance_adjusted', 'payment.returned']
  expect(told.map(({ type }) => type)).toEqual(types)
  expect(await store.table(adminActs).count('seq', [])).toBe(0)
})

test('who was undone gets no answer for it and no refund: what comes back goes to whoever bore it', async () => {
  await open()
  const { id, provider } = await listing(market, '0.10')
  const buyer = await market.buyer('1.00')
  const path = `/v1/services/${id}/purchase`
  const signed = await signPayment(buyer.account, await market.call('POST', path, { body: {} }))
  const buy = (headers = signed) =>
    market.call('POST', path, { body: {}, headers: { 'Idempotency-Key': 'same', ...headers } })
  const job = await buy()
  expect(job.status).toBe(200)
  await earn(1_000_000n)
  const payment = await paymentOf(job.body.receipt_id)
  const had = await owned()
  await undo(payment)
  const borne = await owned()
  const held = await balanceOfAccount(market, account.escrow(job.body.job_id))
  expect(held).toBe(payment.price)
  const failed = await provider.call('POST', `/v1/jobs/${job.body.job_id}/update`, { status: 'failed', notes: 'no' })
  expect([failed.status, failed.body.escrow]).toMatchObject([200, { status: 'refunded' }])
  expect(await owned()).toBe(borne + held)
  expect(await balanceOfAccount(market, account.refund(buyer.wallet))).toBe(0n)
  await soundBooks(market)
  const again = await buy()
  expect([again.status, again.body.error]).toEqual([409, expect.stringContaining('Sign a new one')])
  const afresh = await buy(await signPayment(buyer.account, await market.call('POST', path, { body: {} })))
  expect([afresh.status, afresh.body.job_id === job.body.job_id]).toEqual([200, false])
  // The money is there after all: who bore the loss has it again, and the refund of the failed job is paid.
  const wallet = await market.daemon.ctx.chain.balanceOf(buyer.wallet)
  await bringBack(payment)
  await bringBack(payment)
  expect(await paymentOf(payment.receipt_id)).toMatchObject({ state: 'fulfilled', transaction: '0x02' })
  await runPayouts(market.daemon.ctx)
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(usdc(wallet + payment.price))
  expect(await owned()).toBe(had)
  await soundBooks(market)
})

test('a payer who is still owed a refund is told of, and paid out of what is earned next', async () => {
  await open()
  const { id, provider } = await listing(market, '0.10')
  const buyer = await market.buyer('1.00')
  const job = await payFor(market, buyer, { path: `/v1/services/${id}/purchase`, body: {} })
  const payment = await paymentOf(job.body.receipt_id)
  await undo(payment)
  await provider.call('POST', `/v1/jobs/${job.body.job_id}/update`, { status: 'failed', notes: 'no' })
  // All of it is spent before the money comes back.
  await spendAll()
  const { uncovered: lost } = await paymentOf(payment.receipt_id)
  if (lost === undefined) throw new Error('the marketplace had enough to bear it')
  await bringBack(payment)
  const told = async () => {
    const { items } = (await market.admin('GET', '/dashboard/api/admin/attention')).body
    return items.filter((item: { kind: string }) => item.kind === 'reversed')
  }
  const owed = formatAmount(lost)
  expect((await paymentOf(payment.receipt_id)).withheld).toBe(lost)
  expect(await told()).toMatchObject([
    { id: `owed ${payment.receipt_id}`, grave: true, who: buyer.wallet, amount: owed },
  ])
  await earn(lost)
  await payAllWithheld(market.daemon.ctx)
  expect([await told(), await owned()]).toEqual([[], 0n])
  // What was there at once, then the rest: a wallet has one payout at a time.
  for (const _ of [1, 2]) await runPayouts(market.daemon.ctx)
  expect(await market.daemon.ctx.chain.balanceOf(buyer.wallet)).toBe(1_000_000n)
})
