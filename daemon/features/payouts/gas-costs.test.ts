import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { saleCostKinds } from '../../../src/model/payment.ts'
import { kernelCollections } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { account, split } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import { ledgerCollections } from '../ledger/rows.ts'
import { actsOf, type GasReport, gasReport, gasValue, saleCosts, weiOf } from './gas-costs.ts'

/* What a sale costs in gas follows from own transactions, and the break-even price from that. */

const [us, buyer, seller] = ['0xaa', '0xbb', '0xcc']
const NOW = 100 * DAY_MS
const toUs = { from: buyer, to: us }
const fromUs = { from: us, to: seller }
const mined = (costWei: bigint | undefined, change: object, sentAt = NOW) => ({
  ...{ call: null, transfers: [], sentAt, included: { costWei } },
  ...change,
})

let seed = 0

function contextOf(transactions: readonly object[], config: object = {}) {
  const page = async ({ limit, offset }: { limit: number; offset: number }) => ({
    rows: transactions.slice(offset, offset + limit),
    total: transactions.length,
  })
  const store = openMemoryStore([...kernelCollections, ...ledgerCollections])
  return {
    store,
    config,
    chain: { payTo: us, transactions: { page } },
    entropy: () => Buffer.alloc(32, ++seed),
  } as never // as it needs
}

test('transfers share the gas of their batch, and calls are told by what they do', async () => {
  const ctx = contextOf([
    mined(90n, { transfers: [toUs, toUs, fromUs] }),
    mined(10n, { transfers: [fromUs] }),
    mined(70n, { call: 'deposit:job_1' }),
    mined(50n, { call: 'escrow:0x1:job_1:1' }),
    mined(5n, { call: 'feedback:1' }),
    mined(undefined, { transfers: [toUs] }), // of an earlier build
    { ...mined(1n, { transfers: [toUs] }), included: null },
    mined(1_000n, { transfers: [toUs] }, NOW - 31 * DAY_MS),
  ])
  const report = await gasReport(ctx, NOW - 30 * DAY_MS)
  expect(report).toMatchObject({
    wei: 225n,
    acts: {
      sale: { count: 2, wei: 60n },
      payout: { count: 2, wei: 40n },
      escrow: { count: 2, wei: 120n },
      other: { count: 1, wei: 5n },
    },
  })
  expect([weiOf(ctx, report, 'sale'), weiOf(ctx, report, 'escrow')]).toEqual([30n, 60n])
})

test('many pages are read whole, and fees of the same time are summed', async () => {
  const ctx = contextOf(Array.from({ length: 250 }, () => mined(2n, { transfers: [toUs] })))
  for (const [at, amount] of [
    [NOW, 25_000n],
    [NOW - 40 * DAY_MS, 999n],
  ] as const) {
    const legs = [{ from: account.ext, to: account.fees, amount: usdc(amount) }]
    await commit(ctx, (t, draw) =>
      post(t, draw, { kind: 'fixed_price_call', ref: { kind: 'test', id: 'x' }, legs, at }),
    )
  }
  expect(await gasReport(ctx, NOW - 30 * DAY_MS)).toMatchObject({
    wei: 500n,
    acts: { sale: { count: 250 } },
    fees: 25_000n,
  })
})

const none = { count: 0, wei: 0n }
const reportOf = (wei: bigint): GasReport => ({
  ...{ from: 0, wei: 0n, fees: usdc(0n) },
  acts: { sale: { count: 1, wei }, payout: none, escrow: none, other: none },
})

test('at the break-even price the fee pays the gas, and one step below it does not', () => {
  const anyGas = fc.bigInt({ min: 0n, max: 10n ** 15n })
  const anyPrice = fc.bigInt({ min: 1n, max: 10_000_000_000n })
  fc.assert(
    fc.property(anyGas, anyPrice, (wei, price) => {
      const ctx = { config: { ethPrice: usdc(price) }, chain: {} } as never // as it needs
      const costs = saleCosts(ctx, reportOf(wei))
      for (const kind of saleCostKinds) {
        const { cost, breakEven } = costs[kind]
        if (cost === null || breakEven === null) throw new Error('a price is missing')
        const earned = (at: bigint) => (kind === 'first_party' ? at : split('third_party', usdc(at)).fee)
        expect(earned(breakEven)).toBeGreaterThanOrEqual(cost)
        if (breakEven > 1_000n) expect(earned(breakEven - 1_000n)).toBeLessThan(cost)
      }
      expect(costs.escrowed.cost).toBeGreaterThanOrEqual(costs.instant.cost as Usdc)
      expect(actsOf.escrowed.length).toBeGreaterThan(actsOf.instant.length)
    }),
  )
})

test('without a price of ETH nothing has a value, and without transactions the gas price of the node counts', () => {
  const chain = { status: () => ({ gas: { wei: 1_000n, payments: 10 } }) }
  const [priced, unpriced] = [
    { config: { ethPrice: usdc(3_000_000_000n) }, chain },
    { config: {}, chain },
  ] as never[]
  const report = { ...reportOf(0n), acts: { sale: none, payout: none, escrow: none, other: none } }
  expect(weiOf(priced as never, report, 'sale')).toBe(100n)
  expect(weiOf(priced as never, report, 'escrow')).toBe(200n)
  expect(gasValue(priced as never, 10n ** 18n)).toBe(3_000_000_000n)
  expect(saleCosts(unpriced as never, report).instant).toEqual({ cost: null, breakEven: null })
})
