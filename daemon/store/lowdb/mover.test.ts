import { cp, mkdir } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import { account, accounts, collectionsUnderTest, seed } from '../conformance/world.testkit.ts'
import { openLevelDb } from '../level/db.ts'
import type { Store } from '../port.ts'
import { ROWS_DIR } from './files.ts'
import { moverOf } from './mover.ts'
import { cleanUp, journals, openTemp, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'

// @slow stores with many rows are moved

/* The thread that moves rows from the journal to LevelDB. */

cleanUp()

const level = { levelFrom: 0 } as const
const ids = ['a', 'b', 'c', 'd', '\u{1F600}']

type Act = { readonly id: string; readonly row: { readonly owner: string; readonly balance: bigint } | null }
const act: fc.Arbitrary<Act> = fc.record({
  id: fc.constantFrom(...ids),
  row: fc.option(fc.record({ owner: fc.constantFrom('ann', 'bob'), balance: fc.constantFrom(-1n, 0n, 2n, 2n ** 64n) })),
})

/** Each act is a transaction. A unique value goes from row to row. */
async function perform(store: Store, acts: readonly Act[]): Promise<void> {
  for (const [n, { id, row }] of acts.entries())
    await store.tx(async (t) => {
      const table = t.table(accounts)
      const all = await table.getMany(ids)
      await table.getForUpdate(id)
      if (row === null) return table.delete(id)
      const email = `${n % 2}@x`
      const holder = all.find((one) => one.email === email && one.id !== id)
      if (holder) await table.update(holder.id, holder.version, { email: null })
      return table.put(account(id, { ...row, balance: usdc(row.balance), email, open: n % 3 > 0 }))
    })
}

async function entries(path: string): Promise<string[]> {
  const db = await openLevelDb(path, false)
  try {
    const all = await db.iterator({ gte: Buffer.from([0]), lt: Buffer.from([255]) }).nextv(10_000)
    return all.map((pair) => pair.map((bytes) => bytes.toString('latin1')).join(' = '))
  } finally {
    await db.close()
  }
}

test('it leaves the same bytes as the thread that serves', async () => {
  const rounds = fc.array(fc.array(act, { minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 2 })
  await fc.assert(
    fc.asyncProperty(rounds, async (all) => {
      const [dir, other] = [await tempDir(), `${await tempDir()}/rows`]
      await (await openTemp(dir, level)).close()
      await mkdir(other)
      await cp(`${dir}/${ROWS_DIR}`, other, { recursive: true })
      for (const acts of all) {
        const store = await openTemp(dir)
        const known = await store.read((t) => t.table(accounts).getMany(ids))
        await perform(store, acts)
        const moved = await moverOf(
          other,
          collectionsUnderTest,
        )({
          segments: (await journals(dir)).map(({ path }) => path),
          reflects: store.stats().seq,
          existing: known.map(({ id }) => ['accounts', id]),
        })
        expect(moved).toBe(store.stats().records)
        await store.compact()
        await store.close()
        expect(await entries(other)).toEqual(await entries(`${dir}/${ROWS_DIR}`))
      }
    }),
    { numRuns: 4 },
  )
})

test('many rows go through it, and the store stays whole', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir, level)
  const many = Array.from({ length: 3_000 }, (_, n) => account(`row ${n}`, { balance: usdc(BigInt(n)) }))
  await seed(store, many)
  const flushed = store.compact()
  // Reads and writes go on meanwhile.
  await store.tx((t) => t.table(accounts).increment('row 7', 'sales', 1))
  expect(await store.table(accounts).count('owner', ['ann'])).toBe(3_000)
  await flushed
  await store.tx((t) => t.table(accounts).delete('row 8'))
  const { rows } = await store.table(accounts).page('richest', [], { limit: 2 })
  expect(rows.map(({ id }) => id)).toEqual(['row 2999', 'row 2998'])
  expect(await store.table(accounts).count('owner', ['ann'])).toBe(2_999)
  await store.close()
  expect(await verifyStore({ dir, collections: collectionsUnderTest })).toMatchObject({ records: 2_999 })
})

test('a thread that cannot read the journal says which file, and changes nothing', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir, level)
  await seed(store, [account('a')])
  await store.close()
  const before = await entries(`${dir}/${ROWS_DIR}`)
  const batch = { segments: [`${dir}/journal-9.ndjson`], reflects: 1, existing: [] }
  await expect(moverOf(`${dir}/${ROWS_DIR}`, collectionsUnderTest)(batch)).rejects.toThrow('journal-9.ndjson')
  expect(await entries(`${dir}/${ROWS_DIR}`)).toEqual(before)
})
