import { expect, test } from 'vitest'
import { StoreMisuse, StoreStopped } from '../errors.ts'
import { type Change, Conflict, type Store, type Table, type Tx } from '../port.ts'
import type { UseStore } from './use-store.testkit.ts'
import { type Account, account, accounts, idsOf, micro, rerunning, seed } from './world.testkit.ts'

/** What bodies do: isolation, order, failure, and the mistakes that must be loud. */
export function bodyCases(use: UseStore): void {
  test('a body that throws leaves nothing behind', async () => {
    const store = use()
    const failing = store.tx(async (t) => {
      await t.table(accounts).insert(account('a'))
      throw new RangeError('no')
    })
    await expect(failing).rejects.toThrow(RangeError)
    expect(await store.table(accounts).get('a')).toBeUndefined()
    expect(store.stats()).toMatchObject({ records: 0 })
  })

  test('staged writes are seen inside and not outside', async () => {
    const store = use()
    const staged = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<void>()
    const writing = store.tx(async (t) => {
      await t.table(accounts).insert(account('a'))
      expect(await t.table(accounts).get('a')).toBeDefined()
      staged.resolve()
      await seen.promise
    })
    await staged.promise
    expect(await store.table(accounts).get('a')).toBeUndefined()
    expect(await idsOf(store, 'owner', ['ann'])).toEqual([])
    seen.resolve()
    await writing
    expect(await idsOf(store, 'owner', ['ann'])).toEqual(['a'])
  })

  test('bodies take their turns in the order of the calls', async () => {
    const store = use()
    await seed(store, [account('a')])
    const sales = Array.from({ length: 20 }, (_, i) =>
      store.tx(async (t) => {
        const row = await t.table(accounts).getForUpdate('a')
        await Promise.resolve()
        await t.table(accounts).put({ ...account('a'), sales: (row?.sales ?? 0) + 1 })
        return i
      }),
    )
    expect(await Promise.all(sales)).toEqual(sales.map((_, i) => i))
    expect(await store.table(accounts).get('a')).toMatchObject({ sales: 20 })
  })

  test('a row inserted and deleted again leaves no trace', async () => {
    const store = use()
    const before = store.stats().seq
    await store.tx(async (t) => {
      await t.table(accounts).insert(account('a'))
      await t.table(accounts).delete('a')
    })
    expect(store.stats()).toMatchObject({ records: 0, seq: before })
  })

  readCases(use)
  mistakeCases(use)
  feedCases(use)
}

function readCases(use: UseStore): void {
  test('calls that a body does not await happen in their order, and before its end', async () => {
    const store = use()
    await seed(store, [account('a', { balance: micro(1) })])
    await store.tx(async (t) => {
      const table = t.table(accounts)
      void table.increment('a', 'balance', 2n)
      void table.insert(account('b', { email: 'x' }))
      const [, row, , count] = await Promise.all([
        table.increment('a', 'balance', 4n),
        table.get('a'),
        table.delete('b'),
        table.count('owner', ['ann']),
      ])
      expect([row?.balance, count]).toEqual([7n, 1])
      void table.insert(account('c', { email: 'x' }))
    })
    expect(await idsOf(store, 'owner', ['ann'])).toEqual(['c', 'a'])
  })

  test('a read sees one moment, however many calls it takes', async () => {
    const store = use()
    await seed(store, [account('a', { balance: micro(100) }), account('b')])
    const move = (): Promise<void> =>
      store.tx(async (t) => {
        await t.table(accounts).increment('a', 'balance', -1n)
        await t.table(accounts).increment('b', 'balance', 1n)
      })
    const look = (): Promise<bigint> =>
      store.read(async (t) => {
        const a = await t.table(accounts).get('a')
        await Promise.resolve()
        const b = await t.table(accounts).get('b')
        return (a?.balance ?? 0n) + (b?.balance ?? 0n)
      })
    const [, sums] = await Promise.all([
      Promise.all(Array.from({ length: 10 }, move)),
      Promise.all(Array.from({ length: 10 }, look)),
    ])
    expect(new Set(sums)).toEqual(new Set([100n]))
  })
}

type Mistake = {
  readonly what: string
  readonly make: (t: Tx, store: Store) => Promise<unknown>
  readonly error: typeof StoreMisuse | typeof Conflict
}

const mistakes: readonly Mistake[] = [
  { what: 'a nested tx', make: (_t, store) => store.tx(async () => undefined), error: StoreMisuse },
  { what: 'a nested read', make: (_t, store) => store.read(async () => undefined), error: StoreMisuse },
  { what: 'a read past the handle', make: (_t, store) => store.table(accounts).get('a'), error: StoreMisuse },
  { what: 'a swallowed conflict', make: (t) => t.table(accounts).insert(account('a')), error: Conflict },
  {
    what: 'a swallowed unique conflict',
    make: (t) => t.table(accounts).insert(account('z', { email: 'a@x' })),
    error: Conflict,
  },
  { what: 'a swallowed stale version', make: (t) => t.table(accounts).update('a', 9, {}), error: Conflict },
  { what: 'a swallowed put without a hold', make: (t) => t.table(accounts).put(account('a')), error: StoreMisuse },
]

function mistakeCases(use: UseStore): void {
  test.each(mistakes)('$what fails at once', async ({ make, error }) => {
    const store = use()
    await seed(store, [account('a', { email: 'a@x' })])
    const result = store.tx(async (t) => {
      await t.table(accounts).insert(account('b'))
      await make(t, store)
    })
    await expect(result).rejects.toThrow(error)
    expect(await store.table(accounts).get('b')).toBeUndefined()
  })

  test.each(mistakes.filter(({ what }) => what.startsWith('a swallowed')))(
    '$what fails the transaction',
    async ({ make, error }) => {
      const store = use()
      await seed(store, [account('a', { email: 'a@x' })])
      const result = store.tx(async (t) => {
        await t.table(accounts).insert(account('b'))
        await make(t, store).catch(() => 'swallowed')
      })
      await expect(result).rejects.toThrow(error)
      expect(await store.table(accounts).get('b')).toBeUndefined()
    },
  )

  test('a handle is used up when its body has ended', async () => {
    const store = use()
    const kept: { table?: Table<Account> } = {}
    await store.tx(async (t) => {
      kept.table = t.table(accounts)
    })
    await expect(kept.table?.get('a')).rejects.toThrow(StoreMisuse)
    await expect(kept.table?.insert(account('a'))).rejects.toThrow(StoreMisuse)
  })

  test('a collection that the store was not opened with is refused', async () => {
    const stranger = { ...accounts, name: 'strangers' }
    await expect(use().tx((t) => t.table(stranger).get('a'))).rejects.toThrow(StoreMisuse)
  })

  test('a closed store refuses', async () => {
    const store = use()
    await store.close()
    await expect(store.tx(async () => 1)).rejects.toThrow(StoreStopped)
    await expect(store.table(accounts).get('a')).rejects.toThrow(StoreStopped)
  })
}

function feedCases(use: UseStore): void {
  test('the feed tells every committed change, once, in order', async () => {
    const store = use()
    const told: Change[] = []
    const stop = store.subscribe((change) => told.push(change))
    await Promise.all(['a', 'b', 'c'].map((id) => seed(store, [account(id)])))
    await expect(seed(store, [account('d'), account('a')])).rejects.toThrow(Conflict)
    await store.tx((t) => t.table(accounts).delete('b'))
    await store.durable()
    expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(told.map(({ writes }) => writes[0]?.key)).toEqual(['a', 'b', 'c', 'b'])
    expect(told.at(-1)?.writes).toEqual([{ collection: 'accounts', key: 'b', row: null }])
    stop()
    await seed(store, [account('e')])
    expect(told).toHaveLength(4)
  })

  test('a listener may use the store', async () => {
    const store = use()
    const read = Promise.withResolvers<unknown>()
    const stop = store.subscribe(({ writes }) => {
      stop()
      read.resolve(rerunning(store).tx((t) => t.table(accounts).get(writes[0]?.key ?? '')))
    })
    await seed(store, [account('a')])
    expect(await read.promise).toMatchObject({ id: 'a' })
  })
}
