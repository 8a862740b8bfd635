import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { type Hex, toWallet, type Wallet } from '../../../src/core/hex.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import type { CatchUp, ChainPort, MoneyMove } from '../../ports/chain/chain.ts'
import { payoutNonce } from '../../ports/chain/signature.ts'
import { commit } from '../../store/draw.ts'
import { everyRow } from '../../store/each-page.ts'
import { account } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import { advancedSum } from '../payouts/advances.ts'
import { openPayout, runPayouts } from '../payouts/payouts.ts'
import { payouts } from '../payouts/rows.ts'
import { catchUp } from './catch-up.ts'
import { authorizationId } from './order.ts'
import { payments } from './rows.ts'

/* Random debts at the backup, and random transfers after it, in a marketplace whose chain is the sandbox's ledger. */

const WALLETS = [1, 2, 3].map((digit) => toWallet(`0x${String(digit).repeat(40)}`))
const cents = fc.integer({ min: 1, max: 500 }).map((n) => usdc(BigInt(n) * 10_000n))
const move = fc.record({ who: fc.nat({ max: 2 }), value: cents, isOut: fc.boolean() })
const history = fc.record({
  /** Owed to each wallet at the backup. */
  owed: fc.array(cents, { minLength: 3, maxLength: 3 }),
  moves: fc.array(move, { maxLength: 8 }),
  /** Owed to each wallet later, by sales after the restore. */
  later: fc.array(cents, { minLength: 3, maxLength: 3 }),
})

let market: Marketplace
let due: CatchUp | undefined
beforeEach(async () => {
  market = await openMarketplace({ chain: 'sandbox', seed: undefined })
})
afterEach(() => market.close())

const walletAt = (at: number): Wallet => WALLETS[at] as Wallet // within bounds
const sum = (all: readonly bigint[]) => all.reduce((total, one) => total + one, 0n)

/** Money that came in on the chain, and that the books owe a wallet. */
async function owe(wallet: Wallet, amount: Usdc): Promise<void> {
  const { ctx } = market.daemon
  await commit(ctx, (t, draw) => {
    const legs = [{ from: account.ext, to: account.refund(wallet), amount }]
    return post(t, draw, { kind: 'refund', ref: { kind: 'wallet', id: wallet }, legs, at: 0 })
  })
}

test('whatever moved after the backup, each wallet gets what it is owed once, and nothing is forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ owed, moves, later }) => {
      await market.close()
      market = await openMarketplace({ chain: 'sandbox', seed: undefined })
      const { ctx } = market.daemon
      const sent = new Map<Wallet, bigint>()
      const sentTo = (wallet: Wallet) => sent.get(wallet) ?? 0n
      const transfer: ChainPort['transfer'] = async ({ id, to, amount }) => {
        sent.set(to, sentTo(to) + amount)
        return { ok: true, transaction: payoutNonce(id), already: false }
      }
      const rows = moves.map(({ who, value, isOut }, at): MoneyMove => {
        const [wallet, own] = [walletAt(who), ctx.chain.payTo]
        const nonce: Hex = `0x${String(at).padStart(64, '0')}`
        const [from, to] = isOut ? [own, wallet] : [wallet, own]
        return { id: `${nonce}:0`, from, to, value, transaction: nonce, nonce }
      })
      let isDue = true
      due = {
        isDue: () => isDue,
        movements: async () => ({ rows, deposits: [], isWhole: true }),
        end: async () => {
          isDue = false
        },
        received: async () => ({ rows: [], next: 0 }),
      }
      const restored = { ...ctx, chain: { ...ctx.chain, transfer, catchUp: due } }
      for (const [at, amount] of owed.entries()) await owe(walletAt(at), amount)
      await runPayouts(restored)
      expect(sent.size).toBe(0)
      await catchUp(restored)
      // Again, as after a crash before its end.
      isDue = true
      await catchUp(restored)

      const moved = (isOut: boolean, who?: number) =>
        sum(moves.filter((one) => one.isOut === isOut && [one.who, undefined].includes(who)).map(({ value }) => value))
      const gone = (who: number, debt: bigint) => (moved(true, who) > debt ? moved(true, who) - debt : 0n)
      expect(await advancedSum(ctx.store)).toBe(sum(owed.map((debt, who) => gone(who, debt))))
      for (const [who, amount] of later.entries()) await owe(walletAt(who), amount)
      for (const wallet of WALLETS) {
        const ref = { kind: 'wallet', id: wallet }
        const payout = { kind: 'refund', wallet, source: account.refund(wallet), ref, at: 0 } as const
        await commit(ctx, (t, draw) => openPayout(t, draw, payout))
      }
      await runPayouts(restored)
      for (const [who, debt] of owed.entries()) {
        const all = sum([debt, ...later.slice(who, who + 1)])
        expect(sentTo(walletAt(who)) + moved(true, who)).toBe(moved(true, who) > all ? moved(true, who) : all)
      }
      const kept = await everyRow(ctx.store.table(payouts), { index: 'blocked', prefix: [], limit: 100 })
      expect(sum(kept.map(({ amount }) => amount))).toBe(moved(false))
      // The books owe what the chain has, but for what it paid in advance.
      const ext = await ctx.store.read((t) => balanceOf(t, account.ext))
      const chain = sum(owed) + sum(later) + moved(false) - moved(true) - sum([...sent.values()])
      expect(-ext - (await advancedSum(ctx.store))).toBe(chain)
    }),
    { numRuns: runs(200, 8) },
  )
})

test('a payment that the backup has as released, and the chain has as settled, is kept for its payer', async () => {
  const { ctx } = market.daemon
  const [payer] = WALLETS as [Wallet]
  const nonce: Hex = `0x${'ab'.repeat(32)}`
  const id = authorizationId(ctx, { authorization: { from: payer, nonce } })
  const none = { participant_id: null, input: null, idempotency: null, authorization: null, terms: null, outcome: null }
  const row = {
    id,
    method: 'x402',
    open: false,
    payer,
    price: usdc(5n),
    settle: 'last',
    endpoint: 'deposit',
    ...none,
  } as const
  const times = { created_at: 0, updated_at: 0 }
  const released = {
    ...row,
    ...times,
    state: 'released',
    fingerprint: 'f',
    receipt_id: 'rcp_1',
    transaction: null,
  } as const
  await ctx.store.tx((t) => t.table(payments).insert(released))
  const moved: MoneyMove = { id: 'm:0', from: payer, to: ctx.chain.payTo, value: usdc(5n), transaction: nonce, nonce }
  let isDue = true
  const chain: ChainPort = {
    ...ctx.chain,
    catchUp: {
      isDue: () => isDue,
      movements: async () => ({ rows: [moved], deposits: [], isWhole: true }),
      end: async () => {
        isDue = false
      },
      received: async () => ({ rows: [], next: 0 }),
    },
  }
  // While a request or the recovery holds it, nothing is decided.
  const change = (state: 'reserved' | 'released') =>
    ctx.store.tx(async (t) => {
      const found = await t.table(payments).getForUpdate(id)
      if (found) await t.table(payments).put({ ...found, state, open: state === 'reserved' })
    })
  await change('reserved')
  await catchUp({ ...ctx, chain })
  expect([isDue, await ctx.store.table(payouts).count('blocked', [])]).toEqual([true, 0])
  await change('released')
  await catchUp({ ...ctx, chain })
  expect(isDue).toBe(false)
  expect(await ctx.store.table(payments).get(id)).toMatchObject({
    state: 'refunded',
    transaction: nonce,
    receipt_id: 'rcp_1',
  })
  const { rows } = await ctx.store.table(payouts).page('blocked', [], { limit: 9 })
  expect(rows).toMatchObject([{ wallet: payer, amount: 5n, source: account.refund(payer) }])
})
