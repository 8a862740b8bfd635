import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import type { EntryKind, Leg } from '../../../src/model/ledger.ts'
import { collections } from '../../app.ts'
import { commit } from '../../store/draw.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { balanceOf, post } from './post.ts'
import { accounts, history, ledger } from './rows.ts'

const RUNS = { numRuns: 60 }
const names = ['ext', 'fees', 'bal:p_1', 'bal:p_2', 'hold:x', 'esc:j', 'prov:p_3']
const leg = fc.record({
  from: fc.constantFrom(...names),
  to: fc.constantFrom(...names),
  amount: fc.bigInt({ min: 0n, max: 1_000n }).map(usdc),
})

function open() {
  let seed = 0
  const store = openMemoryStore(collections)
  const entropy = () => {
    seed += 1
    return Buffer.alloc(32, seed)
  }
  const write = (kind: EntryKind, legs: readonly Leg[]) =>
    commit({ store, entropy }, (t, draw) => post(t, draw, { kind, ref: { kind: 'test', id: 'x' }, legs, at: seed }))
  return { store, write }
}

/** The same transaction in a plain map; undefined where it would leave an account negative. */
function applied(book: ReadonlyMap<string, bigint>, legs: readonly Leg[]): Map<string, bigint> | undefined {
  const next = new Map(book)
  for (const { from, to, amount } of legs) {
    next.set(from, (next.get(from) ?? 0n) - amount)
    next.set(to, (next.get(to) ?? 0n) + amount)
  }
  return [...next].every(([name, balance]) => name === 'ext' || balance >= 0n) ? next : undefined
}

test('random transactions: either refused whole, or written so that no account but ext is negative', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(leg, { maxLength: 6 }), { maxLength: 12 }), async (transactions) => {
      const { store, write } = open()
      let model = new Map<string, bigint>()
      let written = 0
      for (const legs of transactions) {
        const next = applied(model, legs)
        const id = await write('adjustment', legs).catch(() => 'refused')
        expect(id === 'refused').toBe(next === undefined)
        if (next && id !== null) written += 1
        model = next ?? model
      }
      for (const name of names) expect(await store.read((t) => balanceOf(t, name))).toBe(model.get(name) ?? 0n)
      const { rows } = await store.table(ledger).page('seq', [], { limit: 100 })
      expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: written }, (_, at) => at + 1))
      await store.close()
    }),
    RUNS,
  )
})

const move = (from: string, to: string, amount: bigint): Leg[] => [{ from, to, amount: amount as Usdc }]

test('an account at zero leaves no row behind', async () => {
  const { store, write } = open()
  await write('deposit', move('ext', 'bal:p_1', 5n))
  await write('balance_hold', move('bal:p_1', 'hold:x', 5n))
  await write('fixed_price_call', move('hold:x', 'ops', 5n))
  const { rows } = await store.table(accounts).page('kind', [], { limit: 10 })
  expect(rows.map((row) => [row.id, row.balance])).toEqual([
    ['ext', -5n],
    ['ops', 5n],
  ])
})

test('only balances have a history, each entry with what it left', async () => {
  const { store, write } = open()
  await write('deposit', move('ext', 'bal:p_1', 9n))
  await write('fixed_price_call', move('ext', 'ops', 1n))
  await write('balance_hold', move('bal:p_1', 'hold:x', 4n))
  const { rows } = await store.table(history).page('participant', ['p_1'], { limit: 10 })
  expect(rows.map((row) => [row.type, row.amount, row.balance_after])).toEqual([
    ['purchase', -4n, 5n],
    ['deposit', 9n, 9n],
  ])
})

test('a kind that must not change a balance may not move one, and a name of no kind is no account', async () => {
  const { write } = open()
  await expect(write('payout_confirmed', move('ext', 'bal:p_1', 1n))).rejects.toThrow('must not change a balance')
  await expect(write('deposit', move('ext', 'pocket:p_1', 1n))).rejects.toThrow('is not an account')
})
