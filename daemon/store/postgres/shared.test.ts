import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasPostgres } from '../../../fixtures/kit/postgres.ts'
import { account, accounts, collectionsUnderTest, micro, seed } from '../conformance/world.testkit.ts'
import { StoreLocked } from '../errors.ts'
import { type Change, Conflict, type Store } from '../port.ts'
import type { PgAddress } from './address.ts'
import type { PgStore } from './open.ts'
import { dropSchema, freshAddress, inSession, openTestStore } from './store.testkit.ts'

/* Several processes on one database, as stores of one process: they share nothing but the server. */

const STORES = 3
let address: PgAddress
let stores: PgStore[]

beforeEach(async () => {
  address = await freshAddress()
  stores = []
  for (let n = 0; n < STORES; n += 1)
    stores.push(await openTestStore(address, { collections: collectionsUnderTest, isShared: true }))
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await dropSchema(address)
})

const at = (n: number): Store => stores[n % STORES] as Store

/** How many of the works were refused, by the names of their errors. */
async function outcomes(
  count: number,
  work: (n: number) => Promise<unknown>,
): Promise<Readonly<Record<string, number>>> {
  const all = await Promise.allSettled(Array.from({ length: count }, (_, n) => work(n)))
  const names = all.map((one) => (one.status === 'fulfilled' ? 'done' : (one.reason as Error).name))
  return Object.fromEntries([...new Set(names)].map((name) => [name, names.filter((one) => one === name).length]))
}

describe.skipIf(!hasPostgres())('three stores on one database', () => {
  test('no two bodies decide on the same sum of a list', async () => {
    const LIMIT = 5
    const wallets = ['ann', 'bob', 'cat']
    await outcomes(45, (n) =>
      at(n).tx(async (t) => {
        const owner = wallets[Math.floor(n / STORES) % wallets.length] ?? ''
        const { rows } = await t.table(accounts).page('owner', [owner], { limit: 100 })
        const sum = rows.reduce((total, row) => total + row.balance, 0n)
        if (sum < LIMIT) await t.table(accounts).insert(account(`${owner}${n}`, { owner, balance: micro(1) }))
      }),
    )
    for (const owner of wallets) expect(await at(0).table(accounts).count('owner', [owner])).toBe(LIMIT)
  })

  test('of those that take the same absent key, one gets it', async () => {
    const all = await outcomes(30, (n) => seed(at(n), [account('a', { owner: `o${n}` })]))
    expect(all).toEqual({ done: 1, Conflict: 29 })
    const taken = await Promise.all(
      Array.from({ length: 12 }, (_, n) => at(n).tx((t) => t.table(accounts).insertIfAbsent(account('b')))),
    )
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(1)
  })

  test('opposite transfers lose nothing and wait for nobody for ever', async () => {
    await seed(at(0), [account('a'), account('b')])
    const all = await outcomes(60, (n) =>
      at(n).tx(async (t) => {
        const [from, to] = n % 2 === 0 ? ['a', 'b'] : ['b', 'a']
        await t.table(accounts).increment(from ?? '', 'balance', -1n)
        await t.table(accounts).increment(to ?? '', 'balance', 1n)
      }),
    )
    expect(all).toEqual({ done: 60 })
    const rows = await at(1).table(accounts).getMany(['a', 'b'])
    expect(rows.map(({ balance, version }) => [balance, version])).toEqual([
      [0n, 61],
      [0n, 61],
    ])
  })

  test('a unique value moves from row to row within a batch and between stores', async () => {
    await seed(at(0), [account('a', { email: 'x' }), account('b', { email: 'y' }), account('c')])
    const emailTo = (n: number, key: string, email: string | null) =>
      at(n).tx(async (t) => {
        const row = await t.table(accounts).getForUpdate(key)
        await t.table(accounts).update(key, row?.version ?? 0, { email })
      })
    await Promise.all([emailTo(0, 'a', null), emailTo(0, 'c', 'x'), emailTo(0, 'b', null), emailTo(0, 'a', 'y')])
    await expect(emailTo(1, 'b', 'x')).rejects.toThrow(Conflict)
    await Promise.all([emailTo(1, 'c', 'z'), emailTo(1, 'b', 'x')])
    const rows = await at(2).table(accounts).getMany(['a', 'b', 'c'])
    expect(rows.map(({ email }) => email)).toEqual(['y', 'x', 'z'])
  })

  test('every store hears every change, once and in order', async () => {
    const heard: Change[][] = stores.map((store) => {
      const list: Change[] = []
      store.subscribe((change) => list.push(change))
      return list
    })
    await Promise.all(Array.from({ length: 40 }, (_, n) => seed(at(n), [account(`a${n}`)])))
    // A turn takes in what the others committed before it.
    await Promise.all(stores.map((store) => store.tx((t) => t.table(accounts).get('a0'))))
    for (const list of heard) {
      expect(list.map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
      expect(list).toEqual(heard[0])
    }
    expect(stores.map((store) => store.stats().records)).toEqual([40, 40, 40])
  })
})

describe.skipIf(!hasPostgres())('a store that does not share its database', () => {
  const alone = () => openTestStore(address, { collections: collectionsUnderTest, label: 'the second' })

  test('is refused while another runs, and opens when that one has stopped', async () => {
    await expect(alone()).rejects.toThrow(StoreLocked)
    await Promise.all(stores.map((store) => store.close()))
    const store = await alone()
    await expect(alone()).rejects.toThrow('the second')
    await store.close()
  })

  test('takes over from one whose sessions are gone, which then writes nothing more', async () => {
    await Promise.all(stores.map((store) => store.close()))
    const stopped: Error[] = []
    const first = await openTestStore(address, {
      collections: collectionsUnderTest,
      onFatal: (error) => stopped.push(error),
    })
    await seed(first, [account('a')])
    await inSession(address, (session) =>
      session.script(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'souk %'`),
    )
    const second = await alone()
    await seed(second, [account('b')])
    await expect(seed(first, [account('c')])).rejects.toThrow('took over')
    expect(stopped).toHaveLength(1)
    const rows = await second.table(accounts).getMany(['a', 'b', 'c'])
    expect(rows.map(({ id }) => id)).toEqual(['a', 'b'])
    await first.close()
    await second.close()
  })
})
