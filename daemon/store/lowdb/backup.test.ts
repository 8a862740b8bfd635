import { readdir, readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { account, accounts, micro, seed } from '../conformance/world.testkit.ts'
import { StoreDamaged, StoreMisuse } from '../errors.ts'
import { restoreStore } from './backup.ts'
import { filesOf, segmentFile, snapshotFile } from './files.ts'
import type { LowdbStore } from './open.ts'
import { cleanUp, contents, openTemp, options, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'

cleanUp()

const START = 1000
const TRANSFERS = 200

async function transfers(store: LowdbStore): Promise<void> {
  const one = (n: number): Promise<void> =>
    store.tx(async (t) => {
      await t.table(accounts).increment(n % 2 === 0 ? 'a' : 'b', 'balance', -1n)
      await t.table(accounts).increment(n % 3 === 0 ? 'c' : 'd', 'balance', 1n)
    })
  await Promise.all(Array.from({ length: TRANSFERS }, (_, n) => one(n)))
}

test('a backup of a running store is one moment of it, and restores', async () => {
  const dir = await tempDir()
  const copy = `${await tempDir()}/copy`
  const store = await openTemp(dir)
  await seed(
    store,
    ['a', 'b', 'c', 'd'].map((id) => account(id, { balance: micro(START) })),
  )
  await store.compact()
  const blob = await store.blobs.put(Readable.from([Buffer.from('a file')]), 100)
  const [report] = await Promise.all([store.backup(copy), transfers(store), store.compact()])
  let sum = 0n
  const visit = (_name: string, row: object): void => {
    sum += (row as { balance: bigint }).balance
  }
  const verified = await verifyStore({ ...options(copy), visit })
  expect(verified).toMatchObject({ seq: report.seq, records: 4, counts: { accounts: 4, deeds: 0 }, torn: undefined })
  expect(verified).toMatchObject({ storeId: store.storeId, blobs: 1, damagedBlobs: [] })
  expect(sum).toBe(BigInt(4 * START))
  expect(await readdir(copy)).not.toContain('lock')
  const target = `${await tempDir()}/fresh`
  await restoreStore({ ...options(copy), from: copy, to: target })
  const restored = await openTemp(target)
  expect(restored.stats()).toMatchObject({ seq: report.seq, records: 4 })
  expect(await restored.blobs.stat(blob.sha256)).toEqual(blob)
  await seed(restored, [account('e')])
  expect(store.stats().seq).toBe(TRANSFERS + 1)
})

test('a backup of an empty store restores to an empty store', async () => {
  const store = await openTemp(await tempDir())
  const copy = `${await tempDir()}/copy`
  expect(await store.backup(copy)).toMatchObject({ seq: 0, files: 0, blobs: 0, sizeBytes: 0 })
  expect(await contents(await openTemp(copy))).toEqual([])
})

test('a segment that began before a snapshot stays behind it: it has what came after', () => {
  expect(filesOf({ snapshot: 100, segments: [40, 90, 151] })).toEqual([
    snapshotFile(100),
    segmentFile(90),
    segmentFile(151),
  ])
  expect(filesOf({ snapshot: 0, segments: [1] })).toEqual([segmentFile(1)])
})

test('damage of the live files does not reach the backup', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir)
  await seed(store, [account('a')])
  const copy = `${await tempDir()}/copy`
  await store.backup(copy)
  await store.close()
  await writeFile(`${dir}/journal-1.ndjson`, 'ruined')
  expect(await verifyStore(options(copy))).toMatchObject({ records: 1 })
})

test('backup and restore want an empty directory, and restore wants a sound backup', async () => {
  const store = await openTemp(await tempDir())
  await seed(store, [account('a')])
  const parent = await tempDir()
  await writeFile(`${parent}/file`, '')
  await expect(store.backup(parent)).rejects.toThrow(StoreMisuse)
  await store.backup(`${parent}/copy`)
  const from = `${parent}/copy`
  await expect(restoreStore({ ...options(from), from, to: parent })).rejects.toThrow(StoreMisuse)
  await expect(verifyStore(options(parent))).rejects.toThrow(StoreMisuse)
  await writeFile(`${from}/journal-1.ndjson`, `#${await readFile(`${from}/journal-1.ndjson`, 'utf8')}`)
  await expect(restoreStore({ ...options(from), from, to: `${parent}/new` })).rejects.toThrow(StoreDamaged)
  expect(await readdir(parent)).not.toContain('new')
})

test('verification names a blob whose content is not its name', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir)
  const { sha256 } = await store.blobs.put(Readable.from([Buffer.from('a file')]), 100)
  await writeFile(`${dir}/blobs/${sha256}`, 'b file')
  expect(await verifyStore(options(dir))).toMatchObject({ blobs: 1, damagedBlobs: [sha256] })
})
