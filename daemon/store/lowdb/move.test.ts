import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { startChild } from '../../../fixtures/kit/child.ts'
import { account, accounts, seed } from '../conformance/world.testkit.ts'
import { realDisk } from '../disk.ts'
import { faultyDisk } from '../disk-sim.testkit.ts'
import { LevelMissing } from '../errors.ts'
import { openLevelDb } from '../level/db.ts'
import type { Migration } from '../migrations.ts'
import type { Store } from '../port.ts'
import { MANIFEST_FILE } from './files.ts'
import type { LowdbStoreOptions } from './open.ts'
import { cleanUp, contents, openTemp, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'

/* When the rows of a store move to LevelDB, and back. */

cleanUp()

const ROWS = 10_000
const ROWS_A_TX = 1_000
const level = { levelFrom: 0 } as const
const isOnDisk = (store: Store): boolean => store.stats().disk !== undefined
const manifestOf = async (dir: string) => JSON.parse(await readFile(`${dir}/${MANIFEST_FILE}`, 'utf8'))

/** LevelDB that asks before each row that is put into it. */
function asking(isKept: (key: string) => boolean): NonNullable<LowdbStoreOptions['openDb']> {
  return async (path, createIfMissing) => {
    const db = await openLevelDb(path, createIfMissing)
    const makeBatch = db.batch.bind(db)
    return Object.assign(db, {
      batch() {
        const batch = makeBatch()
        const put = batch.put.bind(batch)
        const isRow = (key: string) => /^r[^a-z]/.test(key)
        return Object.assign(batch, {
          put: (key: Buffer, value: Buffer) =>
            isRow(key.toString('latin1')) && !isKept(key.toString('latin1')) ? batch : put(key, value),
        })
      },
    })
  }
}

test('a move that is killed three times goes on where it was, and ends with every row', async () => {
  const dir = await tempDir()
  const before = await openTemp(dir, { collections: [accounts] })
  for (let n = 0; n < ROWS; n += ROWS_A_TX)
    await seed(
      before,
      Array.from({ length: ROWS_A_TX }, (_, i) => account(`account-${n + i}`, { email: `${n + i}@example.org` })),
    )
  await before.close()
  const files = (await readdir(dir)).filter((name) => name.endsWith('.ndjson'))
  // The first makes the database its own, names what is in it, and writes some rows; the others write more.
  for (const batches of [4, 1, 1]) {
    const child = startChild('store-mover.ts', { dir, batches })
    await expect(child.line()).rejects.toThrow('ended')
    expect(await manifestOf(dir)).not.toHaveProperty('rows')
  }
  let rows = 0
  const openDb = asking(() => {
    rows += 1
    return true
  })
  const store = await openTemp(dir, { ...level, collections: [accounts], openDb })
  expect(rows).toBeLessThan(ROWS / 2)
  expect(store.stats()).toMatchObject({ records: ROWS, disk: { reflects: ROWS / ROWS_A_TX } })
  expect(await store.table(accounts).count('email', [])).toBe(ROWS)
  expect((await store.table(accounts).page('email', ['7@example.org'], { limit: 1 })).rows[0]?.id).toBe('account-7')
  await store.compact()
  expect(await readdir(dir)).toEqual(expect.arrayContaining(files))
  await store.close()
  expect(await verifyStore({ dir, collections: [accounts] })).toMatchObject({ records: ROWS })
})

test('a move of a long journal has each row as the journal leaves it, and none that it removed', async () => {
  const dir = await tempDir()
  const before = await openTemp(dir, { collections: [accounts] })
  const some = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => account(`account-${from + i}`, { email: `${from + i}@example.org` }))
  await seed(before, some(0, 3))
  await before.compact()
  for (let n = 0; n < 2 * ROWS; n += ROWS_A_TX) await seed(before, some(3 + n, ROWS_A_TX))
  await before.tx(async (t) => {
    for (const id of ['account-0', 'account-3']) await t.table(accounts).delete(id)
    for (const id of ['account-1', 'account-4']) await t.table(accounts).increment(id, 'sales', 7)
    // A unique value goes from one row to another.
    await t.table(accounts).insert(account('later', { email: '0@example.org' }))
  })
  await before.close()
  const store = await openTemp(dir, { ...level, collections: [accounts] })
  expect([isOnDisk(store), store.stats().records]).toEqual([true, 2 * ROWS + 2])
  expect(await store.table(accounts).getMany(['account-0', 'account-3'])).toEqual([])
  const kept = await store.table(accounts).getMany(['account-1', 'account-2', 'account-4', `account-${2 * ROWS + 2}`])
  expect(kept.map(({ sales }) => sales)).toEqual([7, 0, 7, 0])
  expect((await store.table(accounts).page('email', ['0@example.org'], { limit: 1 })).rows[0]?.id).toBe('later')
  expect(await store.table(accounts).count('email', [])).toBe(2 * ROWS + 2)
})

test('a move whose copy differs from the store is refused, and the next one starts anew', async () => {
  const dir = await tempDir()
  const before = await openTemp(dir)
  await seed(before, [account('a'), account('b')])
  await before.close()
  const openDb = asking((key) => !key.endsWith('b'))
  await expect(openTemp(dir, { ...level, openDb })).rejects.toThrow('differ from those of the store')
  expect(await contents(await openTemp(dir, level))).toEqual(['a:0', 'b:0'])
})

test('a store moves once its snapshot is large, and back when that is asked for', async () => {
  const dir = await tempDir()
  const large = { levelFrom: 400 }
  const first = await openTemp(dir, large)
  await seed(first, [account('a')])
  await first.compact()
  await first.close()
  const small = await openTemp(dir, large)
  expect(isOnDisk(small)).toBe(false)
  await seed(small, [account('b'), account('c')])
  await small.compact()
  await small.close()
  const moved = await openTemp(dir, large)
  expect(isOnDisk(moved)).toBe(true)
  await seed(moved, [account('d')])
  await moved.close()
  const stays = await openTemp(dir)
  expect(isOnDisk(stays)).toBe(true)
  await stays.close()
  const back = await openTemp(dir, { levelFrom: Number.POSITIVE_INFINITY })
  expect([isOnDisk(back), await readdir(`${dir}/rows`)]).toEqual([false, []])
  expect(await contents(back)).toEqual(['a:0', 'b:0', 'c:0', 'd:0'])
  await back.close()
  expect(await contents(await openTemp(dir))).toEqual(['a:0', 'b:0', 'c:0', 'd:0'])
})

test('without LevelDB on this machine, or without room for the move, rows stay in memory and the store says so', async () => {
  const dir = await tempDir()
  const first = await openTemp(dir)
  await seed(first, [account('a')])
  await first.close()
  const missing = await openTemp(dir, { ...level, openDb: () => Promise.reject(new LevelMissing(new Error('none'))) })
  expect([isOnDisk(missing), missing.note]).toEqual([false, expect.stringContaining('no native module')])
  expect(await contents(missing)).toEqual(['a:0'])
  await missing.close()
  const disk = faultyDisk(realDisk, { freeBytes: () => 1_000 })
  const full = await openTemp(dir, { ...level, disk, reserveBytes: 0 })
  expect([isOnDisk(full), full.note]).toEqual([false, expect.stringContaining('MB of free space')])
})

test('rows on disk get the entries of an index that is new or declared differently', async () => {
  const dir = await tempDir()
  const [owner, richest, ...rest] = accounts.indexes
  const older = { ...accounts, indexes: [{ ...owner, name: 'owner', fields: ['sales'] as const }, ...rest] }
  const first = await openTemp(dir, { ...level, collections: [older] })
  await seed(first, [account('a'), account('b', { owner: 'bob' })])
  await first.compact()
  await first.close()
  const store = await openTemp(dir, { collections: [accounts] })
  const page = await store.table(accounts).page('owner', ['bob'], { limit: 9 })
  expect([richest?.name, page.rows.map(({ id }) => id)]).toEqual(['richest', ['b']])
  expect(await store.table(accounts).count('richest', [])).toBe(2)
})

test('rows on disk are migrated like those in memory', async () => {
  const dir = await tempDir()
  const first = await openTemp(dir, level)
  await seed(first, [account('a'), account('b')])
  await first.compact()
  await seed(first, [account('c')])
  await first.close()
  const sold: Migration = ({ collection, row }) => ({
    collection,
    row: row === null ? null : { ...(row as object), sales: 7 },
  })
  const same: Migration = (stored) => stored
  const store = await openTemp(dir, { ...level, migrations: [same, sold] })
  expect([isOnDisk(store), await contents(store)]).toEqual([true, ['a:7', 'b:7', 'c:7']])
})
