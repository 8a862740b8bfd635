import { expect, test } from 'vitest'
import { RowInvalid, RowMissing, StoreMisuse } from '../errors.ts'
import { Conflict } from '../port.ts'
import type { UseStore } from './use-store.testkit.ts'
import { account, accounts, deeds, idsOf, micro, seed } from './world.testkit.ts'

/** What single rows do: versions, conflicts, validation, shapes. */
export function rowCases(use: UseStore): void {
  test('a row starts at version 1 and every write adds one', async () => {
    const store = use()
    await seed(store, [account('a')])
    expect(await store.table(accounts).get('a')).toEqual({ ...account('a'), version: 1 })
    const second = await store.tx(async (t) => {
      const row = await t.table(accounts).getForUpdate('a')
      return t.table(accounts).put({ ...account('a'), sales: (row?.sales ?? 0) + 1 })
    })
    expect(second).toMatchObject({ version: 2, sales: 1 })
    expect(await store.tx((t) => t.table(accounts).update('a', 2, { note: 'x' }))).toMatchObject({
      version: 3,
      note: 'x',
    })
    expect(await store.tx((t) => t.table(accounts).increment('a', 'sales', 2))).toMatchObject({ version: 4, sales: 3 })
  })

  test('put inserts when the key was looked up and absent', async () => {
    const store = use()
    await store.tx(async (t) => {
      expect(await t.table(accounts).getForUpdate('a')).toBeUndefined()
      await t.table(accounts).put(account('a'))
    })
    expect(await store.table(accounts).get('a')).toMatchObject({ version: 1 })
  })

  test('put without getForUpdate is refused', async () => {
    const store = use()
    await seed(store, [account('a')])
    await expect(store.tx((t) => t.table(accounts).put(account('a')))).rejects.toThrow(StoreMisuse)
  })

  test('insert of a taken key conflicts, insertIfAbsent says so', async () => {
    const store = use()
    await seed(store, [account('a', { sales: 7 })])
    await expect(seed(store, [account('b'), account('a')])).rejects.toThrow(Conflict)
    expect(await store.table(accounts).get('b')).toBeUndefined()
    expect(await store.tx((t) => t.table(accounts).insertIfAbsent(account('a')))).toBe(false)
    expect(await store.tx((t) => t.table(accounts).insertIfAbsent(account('c')))).toBe(true)
    expect(await store.table(accounts).get('a')).toMatchObject({ sales: 7, version: 1 })
  })

  test('update with a stale version, or of nothing, conflicts', async () => {
    const store = use()
    await seed(store, [account('a')])
    await expect(store.tx((t) => t.table(accounts).update('a', 9, { sales: 1 }))).rejects.toThrow(Conflict)
    await expect(store.tx((t) => t.table(accounts).update('z', 1, { sales: 1 }))).rejects.toThrow(Conflict)
  })

  test('an update to undefined removes an optional member', async () => {
    const store = use()
    await seed(store, [account('a', { note: 'x' })])
    const without = { note: undefined } as unknown as { note: string } // what a caller without exact types passes
    await store.tx((t) => t.table(accounts).update('a', 1, without))
    expect(Object.keys((await store.table(accounts).get('a')) ?? {})).not.toContain('note')
  })

  test('delete frees the key, the indexes and the unique value', async () => {
    const store = use()
    await seed(store, [account('a', { email: 'a@x' })])
    expect(await store.tx((t) => t.table(accounts).delete('a'))).toBe(true)
    expect(await store.tx((t) => t.table(accounts).delete('a'))).toBe(false)
    expect(await idsOf(store, 'owner', ['ann'])).toEqual([])
    await seed(store, [account('b', { email: 'a@x' }), account('a')])
    expect(await store.table(accounts).get('a')).toMatchObject({ version: 1 })
  })

  test('getMany answers in the order asked and leaves out what is missing', async () => {
    const store = use()
    await seed(store, [account('a'), account('b'), account('c')])
    const rows = await store.table(accounts).getMany(['c', 'x', 'a'])
    expect(rows.map((row) => row.id)).toEqual(['c', 'a'])
  })

  sumCases(use)
  uniqueCases(use)
  shapeCases(use)
}

function sumCases(use: UseStore): void {
  test('increment adds bigints to bigints only, and needs the row', async () => {
    const store = use()
    await seed(store, [account('a', { balance: micro(5) })])
    await store.tx((t) => t.table(accounts).increment('a', 'balance', -7n))
    expect(await store.table(accounts).get('a')).toMatchObject({ balance: -2n })
    await expect(store.tx((t) => t.table(accounts).increment('a', 'balance', 1))).rejects.toThrow(StoreMisuse)
    await expect(store.tx((t) => t.table(accounts).increment('z', 'balance', 1n))).rejects.toThrow(RowMissing)
  })
}

function uniqueCases(use: UseStore): void {
  test('a unique value is held by one row; null by any number', async () => {
    const store = use()
    await seed(store, [account('a', { email: 'a@x' }), account('b'), account('c')])
    await expect(seed(store, [account('d', { email: 'a@x' })])).rejects.toThrow(Conflict)
    await expect(store.tx((t) => t.table(accounts).update('b', 1, { email: 'a@x' }))).rejects.toThrow(Conflict)
    await expect(seed(store, [account('e', { email: 'e@x' }), account('f', { email: 'e@x' })])).rejects.toThrow(
      Conflict,
    )
    expect(await store.table(accounts).count('email', [null])).toBe(2)
  })

  test('a unique value can move from row to row within one transaction', async () => {
    const store = use()
    await seed(store, [account('a', { email: 'x' }), account('b', { email: 'y' })])
    await store.tx(async (t) => {
      await t.table(accounts).update('a', 1, { email: null })
      await t.table(accounts).update('b', 1, { email: 'x' })
      await t.table(accounts).update('a', 2, { email: 'y' })
    })
    expect(await idsOf(store, 'email', ['x'])).toEqual(['b'])
    expect(await idsOf(store, 'email', ['y'])).toEqual(['a'])
  })
}

function shapeCases(use: UseStore): void {
  test('a row that does not fit its schema fails the whole transaction', async () => {
    const store = use()
    const wrong = { ...account('b'), balance: 5 as unknown as ReturnType<typeof micro> } // what the types forbid
    await expect(seed(store, [account('a'), wrong])).rejects.toThrow(RowInvalid)
    expect(await store.table(accounts).get('a')).toBeUndefined()
  })

  test('a changed row has to fit its schema as a new one does', async () => {
    const store = use()
    await seed(store, [account('a', { note: 'x' })])
    const wrongs = [{ balance: 5 }, { owner: null }, { sales: '1' }, { email: undefined }, { sales: 2, note: 7 }]
    for (const wrong of wrongs as unknown as { note: string }[]) // what the types forbid
      await expect(store.tx((t) => t.table(accounts).update('a', 1, wrong))).rejects.toThrow(RowInvalid)
    const { sales: _left, ...short } = account('a')
    const put = (row: object) =>
      store.tx(async (t) => {
        await t.table(accounts).getForUpdate('a')
        return t.table(accounts).put(row as ReturnType<typeof account>) // what the types forbid
      })
    await expect(put(short)).rejects.toThrow(RowInvalid)
    expect(await store.table(accounts).get('a')).toEqual({ ...account('a', { note: 'x' }), version: 1 })
    await put({ ...account('a'), unknown: 1 })
    expect(await store.table(accounts).get('a')).toEqual({ ...account('a'), version: 2 })
  })

  test('bigints and look-alike strings come back as what they were, at any depth', async () => {
    const store = use()
    const deed = {
      id: 'd',
      postings: [
        { account: '12', delta: -12n },
        { account: 'b', delta: 10n ** 40n },
      ],
      totals: { a: 1n, '2': 2n },
      limit: null,
      target: { kind: 'split' as const, shares: [0n, -1n] },
      anything: { n: '1', list: [1, '2', null, { deep: true }] },
    }
    const plain = { ...deed, id: 'e', limit: 5n, fee: 6n, target: { kind: 'none' as const, digits: '77' } }
    await store.tx(async (t) => {
      await t.table(deeds).insert(deed)
      await t.table(deeds).insert(plain)
    })
    expect(await store.table(deeds).get('d')).toEqual({ ...deed, version: 1 })
    expect(await store.table(deeds).get('e')).toEqual({ ...plain, version: 1 })
  })

  test('a stored row is not the object that was written', async () => {
    const store = use()
    const row = account('a')
    await seed(store, [row])
    row.owner = 'mallory'
    expect(await store.table(accounts).get('a')).toMatchObject({ owner: 'ann' })
  })
}
