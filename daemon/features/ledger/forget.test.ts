import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import type { Leg } from '../../../src/model/ledger.ts'
import { collections } from '../../app.ts'
import { commit } from '../../store/draw.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { booksChecks, newRecount, recount } from '../audit/checks.ts'
import { areBooksKept, forgetCancelled, forgottenCount, whileKept } from './forget.ts'
import { balanceOf, lastSeq, post } from './post.ts'
import { history, ledger } from './rows.ts'

const owners = ['p_1', 'p_2'] as const
const steps = fc.array(
  fc.record({
    act: fc.constantFrom('deposit', 'hold', 'hold', 'release', 'release', 'forget', 'forget'),
    owner: fc.constantFrom(...owners),
    amount: fc.bigInt({ min: 1n, max: 500n }).map(usdc),
    pick: fc.nat(),
  }),
  { minLength: 20, maxLength: 60 },
)
type Step = (typeof steps extends fc.Arbitrary<infer S> ? S : never)[number]
type Hold = { readonly owner: string; readonly legs: readonly Leg[]; readonly ids: string[]; isOpen: boolean }

function open() {
  let seed = 0
  const store = openMemoryStore(collections)
  const entropy = () => {
    seed += 1
    return Buffer.alloc(32, seed)
  }
  async function write(kind: 'deposit' | 'balance_hold' | 'balance_release', legs: readonly Leg[]): Promise<string> {
    const entry = { kind, ref: { kind: 'test', id: 'x' }, legs, at: seed }
    return String(await commit({ store, entropy }, (t, draw) => post(t, draw, entry)))
  }
  return { store, write }
}

const back = (legs: readonly Leg[]): Leg[] => legs.map(({ from, to, amount }) => ({ from: to, to: from, amount }))

/** A store in which such things were done, and the balances that it should have. */
function openBooks() {
  const { store, write } = open()
  const holds: Hold[] = []
  const balances = new Map<string, bigint>()
  const balance = (owner: string) => balances.get(owner) ?? 0n
  const acts: Record<Step['act'], (step: Step, hold: Hold | undefined) => Promise<unknown>> = {
    deposit: async ({ owner, amount }) => {
      balances.set(owner, balance(owner) + amount)
      await write('deposit', [{ from: 'ext', to: `bal:${owner}`, amount }])
    },
    hold: async ({ owner, amount }) => {
      if (balance(owner) < amount) return
      balances.set(owner, balance(owner) - amount)
      const legs = [{ from: `bal:${owner}`, to: `hold:${holds.length}`, amount }]
      holds.push({ owner, legs, ids: [await write('balance_hold', legs)], isOpen: true })
    },
    release: async (_, hold) => {
      if (!hold?.isOpen) return
      hold.isOpen = false
      hold.ids.push(await write('balance_release', back(hold.legs)))
      for (const { amount } of hold.legs) balances.set(hold.owner, balance(hold.owner) + amount)
    },
    // Where it is still open, its one transaction moves money, and stays.
    forget: async (_, hold) => hold && store.tx((t) => forgetCancelled(t, hold.ids)),
  }
  const run = (one: Step) => acts[one.act](one, holds[one.pick % Math.max(1, holds.length)])
  return { store, holds, balance, run }
}

test('whatever holds are made, given back and forgotten: no balance moves, and books and histories add up', async () => {
  let all = 0
  await fc.assert(
    fc.asyncProperty(steps, async (some) => {
      const { store, holds, balance, run } = openBooks()
      for (const one of some) await run(one)
      const books = newRecount()
      for (const row of (await store.table(ledger).page('seq', [], { limit: 100 })).rows) recount(books, row)
      const [forgotten, last] = await store.read(async (t) => [await forgottenCount(t), await lastSeq(t)] as const)
      expect(booksChecks(books, { last, forgotten }).filter(({ ok }) => !ok)).toEqual([])
      for (const owner of owners) {
        const kept = await store.read((t) => balanceOf(t, `bal:${owner}`))
        const [newest] = (await store.table(history).page('participant', [owner], { limit: 1 })).rows
        const found = [kept, books.sums.get(`bal:${owner}`) ?? 0n, newest?.balance_after ?? 0n]
        expect(found).toEqual([balance(owner), balance(owner), balance(owner)])
      }
      const open = holds.filter(({ isOpen }) => isOpen)
      expect(await store.table(ledger).getMany(open.flatMap(({ ids }) => ids))).toHaveLength(open.length)
      all += forgotten
      await store.close()
    }),
    { numRuns: 60 },
  )
  expect(all).toBeGreaterThan(10)
})

test('what does not cancel out stays in the books', async () => {
  const { store, write } = open()
  const ids = [
    await write('deposit', [{ from: 'ext', to: 'bal:p_1', amount: usdc(5n) }]),
    await write('balance_hold', [{ from: 'bal:p_1', to: 'hold:1', amount: usdc(4n) }]),
    await write('balance_release', [{ from: 'hold:1', to: 'bal:p_1', amount: usdc(3n) }]),
  ]
  for (const some of [ids, ids.slice(1), ids.slice(1, 2)]) await store.tx((t) => forgetCancelled(t, some))
  expect(await store.table(ledger).getMany(ids)).toHaveLength(ids.length)
  expect(await store.read(forgottenCount)).toBe(0)
  await store.close()
})

test('books are kept while somebody adds them up, also when that fails', async () => {
  const { store } = open()
  await whileKept(store, async () => expect(areBooksKept(store)).toBe(true))
  await whileKept(store, () => Promise.reject(new Error('broken'))).catch(() => undefined)
  expect(areBooksKept(store)).toBe(false)
  await store.close()
})
