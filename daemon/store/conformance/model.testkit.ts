import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Conflict, type ReadTx, type Store, type Tx } from '../port.ts'
import type { UseStore } from './use-store.testkit.ts'
import { type Account, account, accounts, micro, seed } from './world.testkit.ts'

const RUNS = 60
const keys = ['a', 'b', 'c', 'd']
const owners = ['ann', 'bob']
const emails = [null, 'x', 'y']

type Step =
  | { readonly do: 'insert' | 'put'; readonly key: string; readonly owner: string; readonly email: string | null }
  | { readonly do: 'increment'; readonly key: string; readonly by: number }
  | { readonly do: 'delete'; readonly key: string }
type Program = { readonly steps: readonly Step[]; readonly gives: 'up' | 'on' }

const key = fc.constantFrom(...keys)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom('insert' as const, 'put' as const),
    key,
    owner: fc.constantFrom(...owners),
    email: fc.constantFrom(...emails),
  }),
  fc.record({ do: fc.constant('increment' as const), key, by: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ do: fc.constant('delete' as const), key }),
)
const program: fc.Arbitrary<Program> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  gives: fc.constantFrom('on', 'on', 'on', 'up'),
})

/** A plain map that does what the port promises. */
type Model = Map<string, Account>

class GaveUp extends Error {}

function modelStep(model: Model, current: Step): void {
  const before = model.get(current.key)
  if (current.do === 'delete') {
    model.delete(current.key)
    return
  }
  if (current.do === 'increment') {
    if (before === undefined) return
    model.set(current.key, {
      ...before,
      balance: micro(Number(before.balance) + current.by),
      version: before.version + 1,
    })
    return
  }
  if (current.do === 'insert' && before !== undefined) throw new Conflict('accounts', 'id')
  const { email, owner } = current
  if (email !== null && [...model.values()].some((row) => row.email === email && row.id !== current.key))
    throw new Conflict('accounts', 'email')
  model.set(current.key, { ...account(current.key, { owner, email }), version: (before?.version ?? 0) + 1 })
}

/** @returns the model after the program, or undefined when it fails as a whole. */
function runOnModel(model: Model, { steps, gives }: Program): Model | undefined {
  const next = new Map(model)
  try {
    for (const current of steps) modelStep(next, current)
  } catch (error) {
    if (error instanceof Conflict) return undefined
    throw error
  }
  return gives === 'up' ? undefined : next
}

async function storeStep(t: Tx, current: Step): Promise<void> {
  const table = t.table(accounts)
  if (current.do === 'delete') await table.delete(current.key)
  else if (current.do === 'increment') {
    if ((await table.get(current.key)) !== undefined) await table.increment(current.key, 'balance', BigInt(current.by))
  } else {
    const row = account(current.key, { owner: current.owner, email: current.email })
    if (current.do === 'put') await table.getForUpdate(current.key)
    await (current.do === 'put' ? table.put(row) : table.insert(row))
  }
}

async function runOnStore(store: Store, { steps, gives }: Program): Promise<boolean> {
  try {
    await store.tx(async (t) => {
      for (const current of steps) await storeStep(t, current)
      if (gives === 'up') throw new GaveUp()
    })
    return true
  } catch (error) {
    if (error instanceof Conflict || error instanceof GaveUp) return false
    throw error
  }
}

function expected(model: Model, keep: (row: Account) => boolean): Account[] {
  const rows = [...model.values()].filter(keep)
  return rows.sort((a, b) => Number(a.balance - b.balance) || (a.id < b.id ? -1 : 1))
}

/** Random programs against a plain map, and money that must never be seen halfway. */
export function modelCases(use: UseStore): void {
  test('concurrent programs do what a plain map does, one after the other', async () => {
    const programs = fc.array(program, { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(programs, (list) => checkAgainstModel(use(), list)),
      { numRuns: RUNS },
    )
  })

  test('a transfer is never seen halfway', async () => {
    const transfers = fc.array(fc.record({ from: key, to: key, amount: fc.integer({ min: 1, max: 50 }) }), {
      maxLength: 15,
    })
    await fc.assert(
      fc.asyncProperty(transfers, (list) => checkTransfers(use(), list)),
      { numRuns: RUNS },
    )
  })
}

async function checkAgainstModel(store: Store, programs: readonly Program[]): Promise<void> {
  await clear(store)
  let model: Model = new Map()
  const outcomes = await Promise.all(programs.map((one) => runOnStore(store, one)))
  for (const [i, one] of programs.entries()) {
    const next = runOnModel(model, one)
    expect(outcomes[i]).toBe(next !== undefined)
    model = next ?? model
  }
  const { rows } = await store.table(accounts).page('richest', [], { limit: 100, order: 'asc' })
  expect(rows).toEqual(expected(model, () => true))
  for (const owner of owners) {
    const mine = await store.table(accounts).page('owner', [owner], { limit: 100 })
    expect(mine.rows).toEqual(expected(model, (row) => row.owner === owner))
    expect(await store.table(accounts).count('owner', [owner])).toBe(mine.rows.length)
  }
}

type Transfer = { readonly from: string; readonly to: string; readonly amount: number }
const START = 100
const LOOKS_PER_TURN = 20

async function checkTransfers(store: Store, transfers: readonly Transfer[]): Promise<void> {
  await clear(store)
  await seed(
    store,
    keys.map((id) => account(id, { balance: micro(START) })),
  )
  const sums = new Set<bigint>()
  let isDone = false
  const note = (rows: readonly Account[]): unknown => sums.add(rows.reduce((total, row) => total + row.balance, 0n))
  async function observe(look: () => Promise<unknown>): Promise<void> {
    while (!isDone) {
      // Several looks between the steps of the bodies, then a turn in which the disk may answer.
      for (let i = 0; i < LOOKS_PER_TURN; i += 1) await look()
      await nextTurn()
    }
  }
  const watching = [
    observe(async () => note(await store.table(accounts).getMany(keys))),
    observe(async () => note((await store.table(accounts).page('richest', [], { limit: 9 })).rows)),
    observe(() => store.read(async (t) => note([await balanceOf(t, 'a', 'b'), await balanceOf(t, 'c', 'd')].flat()))),
  ]
  await Promise.all(transfers.map((transfer) => move(store, transfer)))
  isDone = true
  await Promise.all(watching)
  expect([...sums]).toEqual([BigInt(START * keys.length)])
}

/** Part of a look that takes several calls, with room for others between them. */
async function balanceOf(t: ReadTx, ...ids: string[]): Promise<readonly Account[]> {
  await Promise.resolve()
  return t.table(accounts).getMany(ids)
}

function move(store: Store, { from, to, amount }: Transfer): Promise<void> {
  return store.tx(async (t) => {
    await t.table(accounts).increment(from, 'balance', BigInt(-amount))
    await Promise.resolve()
    await t.table(accounts).increment(to, 'balance', BigInt(amount))
  })
}

async function clear(store: Store): Promise<void> {
  await store.tx(async (t) => {
    for (const id of keys) await t.table(accounts).delete(id)
  })
}
