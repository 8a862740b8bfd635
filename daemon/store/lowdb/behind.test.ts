import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { account, accounts, collectionsUnderTest, seed } from '../conformance/world.testkit.ts'
import { realDisk } from '../disk.ts'
import { faultyDisk } from '../disk-sim.testkit.ts'
import { StoreDamaged } from '../errors.ts'
import { type LevelDb, openLevelDb } from '../level/db.ts'
import { FORMAT } from '../migrations.ts'
import { restoreStore } from './backup.ts'
import { type LowdbStore, openLowdbStore } from './open.ts'
import { repairStore } from './repair.ts'
import { cleanUp, contents, journals, openTemp, options, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'
import { readWhole } from './whole.ts'

/* Stores that keep their rows in LevelDB. */

cleanUp()

const level = { levelFrom: 0 } as const
const manifestOf = async (dir: string) => JSON.parse(await readFile(`${dir}/MANIFEST.json`, 'utf8'))
const snapshots = async (dir: string) => (await readdir(dir)).filter((name) => name.startsWith('snapshot-'))
const write = async (store: LowdbStore, ...ids: string[]) => {
  for (const id of ids) await seed(store, [account(id)])
}

/** A copy of the files as a kill leaves them. */
async function killed(dir: string): Promise<string> {
  const copy = `${await tempDir()}/store`
  await mkdir(copy)
  await cp(dir, copy, { recursive: true, filter: (path) => !path.includes('/lock') && !path.endsWith('/LOCK') })
  return copy
}

test('opens with every row, of LevelDB and of the journal, after a stop and after a kill', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir, level)
  await write(store, 'a', 'b')
  await store.compact()
  await write(store, 'c')
  await store.tx(async (t) => {
    await t.table(accounts).delete('a')
    await t.table(accounts).increment('b', 'sales', 3)
  })
  const expected = ['b:3', 'c:0']
  expect(await contents(await openTemp(await killed(dir)))).toEqual(expected)
  expect(store.stats()).toMatchObject({ seq: 4, records: 2 })
  await store.close()
  // It stays so without being told again.
  const again = await openTemp(dir)
  expect(await contents(again)).toEqual(expected)
  expect(again.stats()).toMatchObject({ seq: 4, records: 2 })
  expect(await snapshots(dir)).toEqual([])
})

test('a segment of the journal stays until the flush after the one that took it in', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir, level)
  const kept = async () => (await journals(dir)).map(({ path }) => path.slice(dir.length + 1))
  await write(store, 'a')
  await store.compact()
  expect(await kept()).toEqual(['journal-1.ndjson', 'journal-2.ndjson'])
  await write(store, 'b')
  await store.compact()
  expect(await kept()).toEqual(['journal-2.ndjson', 'journal-3.ndjson'])
})

test('a store is moved once, and its files stay until the first stop in order', async () => {
  const dir = await tempDir()
  const before = await openTemp(dir)
  await write(before, 'a', 'b')
  await before.compact()
  await write(before, 'c')
  await before.close()
  const store = await openTemp(dir, level)
  expect(await contents(store)).toEqual(['a:0', 'b:0', 'c:0'])
  await write(store, 'd')
  await store.compact()
  // The old snapshot and the whole journal behind it are a store of their own.
  const { rows: _level, format, ...old } = await manifestOf(dir)
  // One format more: a program that knows no LevelDB refuses it.
  expect(format).toBe(FORMAT + 1)
  const copy = await killed(dir)
  await writeFile(`${copy}/MANIFEST.json`, JSON.stringify({ ...old, format: FORMAT }))
  expect(await contents(await openTemp(copy))).toEqual(['a:0', 'b:0', 'c:0', 'd:0'])
  await store.close()
  expect(await snapshots(dir)).toEqual([])
  expect(await manifestOf(dir)).toMatchObject({ rows: 'level', snapshot: 0, previous: null })
  expect(await contents(await openTemp(dir))).toEqual(['a:0', 'b:0', 'c:0', 'd:0'])
})

/** LevelDB whose batches fail from the n-th on. */
function failing(n: number): (dir: string, createIfMissing?: boolean) => Promise<LevelDb> {
  let batches = 0
  return async (dir, createIfMissing) => {
    const db = await openLevelDb(dir, createIfMissing)
    const batch = (): ReturnType<LevelDb['batch']> => {
      const real = db.batch()
      return {
        put: (key, value) => real.put(key, value),
        del: (key) => real.del(key),
        close: () => real.close(),
        async write(how) {
          batches += 1
          if (batches >= n) throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
          await real.write(how)
        },
      }
    }
    return {
      getSync: (key, from) => db.getSync(key, from as object),
      getMany: (keys, from) => db.getMany(keys, from as object),
      keys: (range) => db.keys(range as object),
      iterator: (range) => db.iterator(range as object),
      snapshot: () => db.snapshot(),
      approximateSize: (from, to) => db.approximateSize(from, to),
      clear: () => db.clear(),
      close: () => db.close(),
      batch,
    }
  }
}

test('a disk that is full in a flush stops the store, and nothing acknowledged is lost', async () => {
  const dir = await tempDir()
  await (await openTemp(dir, level)).close()
  const fatal: Error[] = []
  const store = await openTemp(dir, { openDb: failing(1), onFatal: (error) => fatal.push(error) })
  await write(store, 'a')
  await expect(store.compact()).rejects.toThrow('no room')
  expect(fatal).toHaveLength(1)
  await store.close()
  expect(await contents(await openTemp(dir))).toEqual(['a:0'])
})

test('where there is no room for a flush, the store goes on without it', async () => {
  const dir = await tempDir()
  let freeBytes = 10_000
  const disk = faultyDisk(realDisk, { freeBytes: () => freeBytes })
  const store = await openTemp(dir, { ...level, disk, reserveBytes: 9_900, compactAboveBytes: 100 })
  await write(store, 'a', 'b', 'c')
  await store.shrink()
  expect(await readdir(`${dir}`)).not.toContain('journal-4.ndjson')
  freeBytes = 1_000_000
  await store.shrink()
  expect(await readdir(`${dir}`)).toContain('journal-4.ndjson')
  expect(await contents(store)).toEqual(['a:0', 'b:0', 'c:0'])
})

test('writers wait for LevelDB where memory holds what three flushes take', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const openDb = async (dir: string, createIfMissing?: boolean): Promise<LevelDb> => {
    const db = await failing(Number.POSITIVE_INFINITY)(dir, createIfMissing)
    const write = async (batch: ReturnType<LevelDb['batch']>) => {
      begun.resolve()
      await gate.promise
      await batch.write({ sync: true })
    }
    const batch = (): ReturnType<LevelDb['batch']> => {
      const real = db.batch()
      return { ...real, write: () => write(real) }
    }
    return { ...db, batch }
  }
  const dir = await tempDir()
  await (await openTemp(dir, level)).close()
  const store = await openTemp(dir, { openDb, compactAboveBytes: 4_000 })
  const ended: string[] = []
  try {
    for (let n = 0; store.stats().journalBytes <= 8_000; n += 1) await write(store, `one${n}`)
    await begun.promise
    for (let n = 0; store.stats().journalBytes <= 12_000; n += 1) await write(store, `two${n}`)
    const waiting = write(store, 'last').then(() => ended.push('written'))
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    ended.push('let go')
    gate.resolve()
    await waiting
    expect(ended).toEqual(['let go', 'written'])
  } finally {
    gate.resolve()
  }
})

/** A closed store with rows in LevelDB, and more in the journal. */
async function closed(): Promise<string> {
  const dir = await tempDir()
  const store = await openLowdbStore(options(dir, level))
  await write(store, 'a', 'b', 'c')
  await store.compact()
  await write(store, 'd')
  await store.compact()
  await write(store, 'e')
  await store.close()
  return dir
}

const all = ['a:0', 'b:0', 'c:0', 'd:0', 'e:0']

test('a backup of a running store has its rows in a snapshot, and is restored and verified as any other', async () => {
  const dir = await closed()
  const store = await openTemp(dir)
  const target = `${await tempDir()}/copy`
  const report = await store.backup(target)
  expect(report).toMatchObject({ seq: 5, files: 1 })
  expect((await readdir(target)).filter((name) => name !== 'lock').sort()).toEqual([
    'MANIFEST.json',
    'blobs',
    'journal-5.ndjson',
    'journal-6.ndjson',
    'snapshot-4.ndjson',
  ])
  await write(store, 'f')
  const to = `${await tempDir()}/store`
  const base = { collections: collectionsUnderTest }
  expect(await restoreStore({ ...base, from: target, to })).toMatchObject({ seq: 5, records: 5 })
  expect(await contents(await openTemp(to))).toEqual(all)
  const inLevel = `${await tempDir()}/store`
  await restoreStore({ ...base, from: target, to: inLevel })
  expect(await contents(await openTemp(inLevel, level))).toEqual(all)
})

test('verification and the whole state read rows wherever they lie', async () => {
  const dir = await closed()
  const found: string[] = []
  const visit = (_collection: string, row: object) => found.push('id' in row ? String(row.id) : '')
  expect(await verifyStore({ dir, collections: collectionsUnderTest, visit })).toMatchObject({ seq: 5, records: 5 })
  expect(found.sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  const whole = await readWhole(dir, collectionsUnderTest)
  expect(whole.find(({ collection }) => collection.name === 'accounts')?.rows.map(({ id }) => id)).toEqual(found)
})

const repair = (dir: string) => repairStore({ ...options(dir), newStoreId: () => 'rebuilt' })

test('a repair leaves a sound store alone', async () => {
  const dir = await closed()
  expect(await repair(dir)).toMatchObject({ repaired: false, seq: 5 })
  expect(await contents(await openTemp(dir))).toEqual(all)
})

/** Flips a byte of a row in LevelDB. */
async function spoilRow(dir: string, id: string): Promise<void> {
  const raw = await openLevelDb(`${dir}/rows`)
  for await (const [key, value] of raw.iterator({ gte: Buffer.from('r'), lt: Buffer.from('s') })) {
    if (!key.toString('latin1').endsWith(id)) continue
    value[value.length - 5] = (value[value.length - 5] ?? 0) ^ 1
    await raw.put(key, value)
  }
  await raw.close()
}

test('a byte that flipped in a row is named, and a repair keeps all other rows', async () => {
  const dir = await closed()
  await spoilRow(dir, 'b')
  await expect(verifyStore({ dir, collections: collectionsUnderTest })).rejects.toThrow('accounts b')
  const report = await repair(dir)
  expect(report).toMatchObject({ repaired: true, seq: 5, droppedRows: 1 })
  expect(report.findings.join()).toContain('accounts b')
  expect(report.quarantined).toContain('quarantine/rows')
  expect(await contents(await openTemp(dir, level))).toEqual(all.filter((entry) => entry !== 'b:0'))
})

test('a journal that is damaged behind what LevelDB holds is cut there', async () => {
  const dir = await closed()
  const last = (await journals(dir)).at(-1) as { path: string; text: string }
  await writeFile(last.path, last.text.replace('"e"', '"x"') + last.text)
  await expect(openTemp(dir)).rejects.toThrow(StoreDamaged)
  expect(await repair(dir)).toMatchObject({ repaired: true, seq: 4, droppedRows: 0 })
  expect(await contents(await openTemp(dir))).toEqual(all.slice(0, -1))
})

test('a manifest that is lost is made again, with the store whose rows lie in LevelDB', async () => {
  const dir = await closed()
  const { store } = await manifestOf(dir)
  await writeFile(`${dir}/MANIFEST.json`, '{')
  await expect(openTemp(dir)).rejects.toThrow(StoreDamaged)
  expect(await repair(dir)).toMatchObject({ repaired: true, seq: 5 })
  const again = await openTemp(dir)
  expect([again.storeId, await contents(again)]).toEqual([store, all])
})

test('rows of LevelDB that are gone, or of another store, are refused by name', async () => {
  const [dir, other] = [await closed(), await closed()]
  const files = await readdir(`${dir}/rows`)
  const current = await readFile(`${dir}/rows/CURRENT`)
  await writeFile(`${dir}/rows/CURRENT`, 'MANIFEST-9')
  await expect(openTemp(dir)).rejects.toThrow(`${dir}/rows is damaged`)
  await expect(repair(dir)).rejects.toThrow('souk restore')
  await writeFile(`${dir}/rows/CURRENT`, current)
  expect(files).toContain('CURRENT')
  await cp(`${other}/rows`, `${dir}/rows`, { recursive: true, force: true })
  await expect(openTemp(dir)).rejects.toThrow(StoreDamaged)
})
