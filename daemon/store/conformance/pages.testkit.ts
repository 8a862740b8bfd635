import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { StoreMisuse } from '../errors.ts'
import type { PageQuery, Reader, Scalar } from '../port.ts'
import type { UseStore } from './use-store.testkit.ts'
import { type Account, account, accounts, idsOf, micro, seed } from './world.testkit.ts'

const people = [
  account('a', { owner: 'ann', balance: micro(3) }),
  account('b', { owner: 'ann', balance: micro(1) }),
  account('c', { owner: 'bob', balance: micro(2), open: false, note: 'late' }),
  account('d', { owner: 'ann', balance: micro(1), note: '' }),
  account('e', { owner: 'ann', balance: micro(-20) }),
]

/** All ids of a list, page by page. */
async function walk(reader: Reader<Account>, index: string, query: PageQuery & { prefix: readonly Scalar[] }) {
  const ids: string[][] = []
  let after: string | undefined
  for (;;) {
    const cursor = after === undefined ? {} : { after }
    const page = await reader.page(index, query.prefix, {
      limit: query.limit,
      ...cursor,
      ...(query.order ? { order: query.order } : {}),
    })
    if (page.cursor === null) return ids
    ids.push(page.rows.map((row) => row.id))
    after = page.cursor
    if (!page.more) return ids
  }
}

/** What lists do: order, cursors, prefixes, counts. */
export function pageCases(use: UseStore): void {
  const walks = [
    {
      index: 'owner',
      prefix: ['ann'],
      limit: 2,
      ids: [
        ['e', 'b'],
        ['d', 'a'],
      ],
    },
    {
      index: 'owner',
      prefix: ['ann'],
      limit: 2,
      order: 'desc',
      ids: [
        ['a', 'd'],
        ['b', 'e'],
      ],
    },
    { index: 'owner', prefix: ['ann', 1n], limit: 9, ids: [['b', 'd']] },
    {
      index: 'owner',
      prefix: [],
      limit: 3,
      ids: [
        ['e', 'b', 'd'],
        ['a', 'c'],
      ],
    },
    { index: 'owner', prefix: ['zoe'], limit: 3, ids: [] },
    { index: 'richest', prefix: [], limit: 4, ids: [['a', 'c', 'd', 'b'], ['e']] },
    { index: 'richest', prefix: [], limit: 9, order: 'asc', ids: [['e', 'b', 'd', 'c', 'a']] },
    { index: 'open', prefix: ['bob'], limit: 9, ids: [] },
    { index: 'open', prefix: ['ann'], limit: 9, ids: [['a', 'b', 'd', 'e']] },
    { index: 'noted', prefix: [], limit: 9, ids: [['d', 'c']] },
  ] as const

  test.each(walks)('$index $prefix by $limit $order reads $ids', async ({ index, ids, ...query }) => {
    const store = use()
    await seed(store, people)
    expect(await walk(store.table(accounts), index, query)).toEqual(ids)
    expect(await store.tx((t) => walk(t.table(accounts), index, query))).toEqual(ids)
    expect(await store.table(accounts).count(index, query.prefix)).toBe(ids.flat().length)
  })

  test('until stops a page, inclusively', async () => {
    const store = use()
    await seed(store, people)
    const { cursor } = await store.table(accounts).page('owner', ['ann'], { limit: 2 })
    const page = await store.table(accounts).page('owner', ['ann'], { limit: 9, until: cursor ?? '' })
    expect(page).toMatchObject({ rows: [{ id: 'e' }, { id: 'b' }], more: false })
    const back = await store.table(accounts).page('owner', ['ann'], { limit: 9, until: cursor ?? '', order: 'desc' })
    expect(back.rows.map((row) => row.id)).toEqual(['a', 'd', 'b'])
  })

  test('beyond starts behind every row that has the values', async () => {
    const store = use()
    await seed(store, people)
    const rows = (await store.table(accounts).page('owner', ['ann'], { limit: 9 })).rows
    const whole = rows.map((row) => row.id)
    for (const [at, row] of rows.entries()) {
      const beyond = [row.balance]
      const same = rows.filter(({ balance }) => balance === row.balance).length
      const up = await store.table(accounts).page('owner', ['ann'], { limit: 9, beyond })
      const first = rows.findIndex(({ balance }) => balance === row.balance)
      expect([at, up.rows.map(({ id }) => id)]).toEqual([at, whole.slice(first + same)])
      const down = await store.tx((t) => t.table(accounts).page('owner', ['ann'], { limit: 9, beyond, order: 'desc' }))
      expect([at, down.rows.map(({ id }) => id)]).toEqual([at, whole.slice(0, first).toReversed()])
    }
  })

  test('a cursor survives the row it names', async () => {
    const store = use()
    await seed(store, people)
    const { cursor } = await store.table(accounts).page('owner', ['ann'], { limit: 2 })
    await store.tx((t) => t.table(accounts).delete('b'))
    const rest = await store.table(accounts).page('owner', ['ann'], { limit: 9, after: cursor ?? '' })
    expect(rest.rows.map((row) => row.id)).toEqual(['d', 'a'])
  })

  cursorCases(use)
  overlayCases(use)
}

function cursorCases(use: UseStore): void {
  test('a cursor of one list never opens another', async () => {
    const store = use()
    await seed(store, people)
    const { cursor } = await store.table(accounts).page('owner', ['ann'], { limit: 1 })
    const bobs = await store.table(accounts).page('owner', ['bob'], { limit: 9, after: cursor ?? '' })
    expect(bobs.rows.map((row) => row.id)).toEqual(['c'])
    await expect(store.table(accounts).page('richest', [], { limit: 9, after: cursor ?? '' })).rejects.toThrow(AppError)
  })

  test.each(['', 'nonsense', 'bnVsbA', 'WyJvd25lciIsImEiXQ'])('cursor %j is refused', async (after) => {
    await expect(use().table(accounts).page('owner', ['ann'], { limit: 9, after })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test.each([0, -1, 1.5, 1001])('limit %d is refused', async (limit) => {
    await expect(use().table(accounts).page('owner', ['ann'], { limit })).rejects.toThrow(StoreMisuse)
  })

  test('an index that was not declared is refused', async () => {
    await expect(use().table(accounts).page('balance', [], { limit: 1 })).rejects.toThrow(StoreMisuse)
  })
}

function overlayCases(use: UseStore): void {
  test('a transaction lists and counts its own writes', async () => {
    const store = use()
    await seed(store, people)
    const seen = await store.tx(async (t) => {
      const table = t.table(accounts)
      await table.insert(account('f', { balance: micro(2) }))
      await table.delete('b')
      await table.update('a', 1, { owner: 'bob' })
      await table.update('d', 1, { open: false })
      return {
        ann: await walk(table, 'owner', { prefix: ['ann'], limit: 1 }),
        bob: await table.count('owner', ['bob']),
        all: await table.count('owner', []),
        open: await table.count('open', ['ann']),
        down: await walk(table, 'richest', { prefix: [], limit: 9 }),
      }
    })
    const expected = { ann: [['e'], ['d'], ['f']], bob: 2, all: 5, open: 2, down: [['a', 'f', 'c', 'd', 'e']] }
    expect(seen).toEqual(expected)
    expect(await idsOf(store, 'owner', ['ann'])).toEqual(['e', 'd', 'f'])
    expect(await store.table(accounts).count('open', ['ann'])).toBe(2)
  })
}
