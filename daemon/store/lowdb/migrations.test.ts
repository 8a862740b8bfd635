import { cp, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { account, accounts, micro, seed } from '../conformance/world.testkit.ts'
import { realDisk } from '../disk.ts'
import { StoreFormatUnknown } from '../errors.ts'
import type { Migration } from '../migrations.ts'
import { cleanUp, contents, openTemp, tempDir } from './temp.testkit.ts'

cleanUp()

const MICRO_PER_CENT = 10_000n

/** Format 1 of the fixture counted cents, had no e-mail, and had a collection that is gone. */
const steps: readonly Migration[] = [
  ({ collection, row }) => {
    if (collection === 'gone' || row === null) return { collection, row: null }
    const { cents, ...rest } = row as { cents: string }
    return { collection, row: { ...rest, balance: String(BigInt(cents) * MICRO_PER_CENT) } }
  },
  ({ collection, row }) => ({ collection, row: row === null ? null : { ...row, email: null } }),
]

async function fixture(): Promise<string> {
  const dir = `${await tempDir()}/store`
  await cp(new URL('fixtures/format-1', import.meta.url), dir, { recursive: true })
  return dir
}

const migrated = [
  { ...account('a', { balance: micro(2_000_000) }), version: 2 },
  { ...account('c', { balance: micro(70_000) }), version: 1 },
]

test.each([
  ['in memory', {}],
  ['on disk', { levelFrom: 0 }],
])('a store of an older format is migrated when it opens, and only once, rows %s', async (_where, kind) => {
  const dir = await fixture()
  const first = await openTemp(dir, { migrations: steps, ...kind })
  expect((await first.table(accounts).page('open', [], { limit: 9 })).rows).toEqual(migrated)
  expect(JSON.parse(await readFile(`${dir}/MANIFEST.json`, 'utf8'))).toMatchObject({
    format: 'levelFrom' in kind ? 4 : 3,
    store: 'fixture',
  })
  await seed(first, [account('d')])
  await first.close()
  const second = await openTemp(dir, { migrations: steps })
  expect((await second.table(accounts).page('open', [], { limit: 2 })).rows).toEqual(migrated)
  expect(await contents(second)).toEqual(['a:0', 'c:0', 'd:0'])
})

test('a migration that is cut off before its end starts over', async () => {
  const dir = await fixture()
  const refused = new Error('cut off')
  const disk = {
    ...realDisk,
    rename: (from: string, to: string) =>
      to.endsWith('MANIFEST.json') ? Promise.reject(refused) : realDisk.rename(from, to),
  }
  await expect(openTemp(dir, { migrations: steps, disk })).rejects.toThrow(refused)
  const store = await openTemp(dir, { migrations: steps })
  expect((await store.table(accounts).page('open', [], { limit: 9 })).rows).toEqual(migrated)
})

test('a store of a newer format is refused and left alone', async () => {
  const dir = await fixture()
  await (await openTemp(dir, { migrations: steps })).close()
  const before = await readFile(`${dir}/MANIFEST.json`, 'utf8')
  await expect(openTemp(dir)).rejects.toThrow(StoreFormatUnknown)
  expect(await readFile(`${dir}/MANIFEST.json`, 'utf8')).toBe(before)
})
