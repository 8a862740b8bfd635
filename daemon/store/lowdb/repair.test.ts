import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { RepairReport } from '../../../src/model/start.ts'
import { account, seed } from '../conformance/world.testkit.ts'
import { openLowdbStore } from './open.ts'
import { repairStore } from './repair.ts'
import { cleanUp, contents, openTemp, options, tempDir } from './temp.testkit.ts'

cleanUp()

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const upTo = (last: string): string[] => ids.filter((id) => id <= last).map((id) => `${id}:0`)

/**
 * A closed store of seven transactions: snapshot-2, snapshot-4 (current),
 * journal-3 (c d), journal-5 (e f, closed by a backup), journal-7 (g).
 */
async function closedStore(): Promise<string> {
  const dir = await tempDir()
  const store = await openLowdbStore(options(dir))
  for (const id of ids) {
    await seed(store, [account(id)])
    if (id === 'b' || id === 'd') await store.compact()
    if (id === 'f') await store.backup(`${await tempDir()}/copy`)
  }
  await store.close()
  return dir
}

/** Spoils the line in which `needle` stands. @returns where that line begins */
async function spoil(path: string, needle: string): Promise<number> {
  const text = await readFile(path, 'utf8')
  const offset = text.lastIndexOf('\n', text.indexOf(needle)) + 1
  await writeFile(path, `${text.slice(0, offset + 20)}~${text.slice(offset + 21)}`)
  return offset
}

const repair = (dir: string): Promise<RepairReport> => repairStore({ ...options(dir), newStoreId: () => 'rebuilt' })

test('a sound store is left alone', async () => {
  const dir = await closedStore()
  const before = (await readdir(dir)).sort()
  expect(await repair(dir)).toMatchObject({ repaired: false, seq: 7, quarantined: [] })
  expect((await readdir(dir)).sort()).toEqual(before)
})

test('the journal is cut at the first damaged line and the rest is put aside', async () => {
  const dir = await closedStore()
  const offset = await spoil(`${dir}/journal-5.ndjson`, '"f"')
  const report = await repair(dir)
  expect(report).toMatchObject({ repaired: true, seq: 5, droppedTransactions: 1, droppedRows: 0 })
  expect(report.quarantined).toEqual([`quarantine/journal-5.ndjson.from-${offset}`, 'quarantine/journal-7.ndjson'])
  expect(report.findings.join()).toContain(`journal-5.ndjson is damaged at byte ${offset}`)
  const store = await openTemp(dir)
  expect(await contents(store)).toEqual(upTo('e'))
  await seed(store, [account('z')])
  await store.close()
  expect(await contents(await openTemp(dir))).toEqual([...upTo('e'), 'z:0'])
})

test('a damaged snapshot costs nothing: the previous one and the journal make it up', async () => {
  const dir = await closedStore()
  await spoil(`${dir}/snapshot-4.ndjson`, '"b"')
  expect(await repair(dir)).toMatchObject({ repaired: true, seq: 7, droppedTransactions: 0, droppedRows: 0 })
  const store = await openTemp(dir)
  expect(await contents(store)).toEqual(upTo('g'))
  await store.compact()
})

test('when both snapshots are damaged every row that can be read is kept', async () => {
  const dir = await closedStore()
  await spoil(`${dir}/snapshot-2.ndjson`, '"a"')
  await spoil(`${dir}/snapshot-4.ndjson`, '"b"')
  expect(await repair(dir)).toMatchObject({ repaired: true, seq: 7, droppedRows: 1 })
  expect(await contents(await openTemp(dir))).toEqual(upTo('g').filter((entry) => entry !== 'b:0'))
})

test('behind a lost segment nothing can be kept, but it is put aside', async () => {
  const dir = await closedStore()
  await rm(`${dir}/journal-5.ndjson`)
  expect(await repair(dir)).toMatchObject({
    seq: 4,
    quarantined: ['quarantine/journal-7.ndjson'],
    droppedTransactions: 1,
  })
  expect(await contents(await openTemp(dir))).toEqual(upTo('d'))
})

test.each(['remove', 'spoil'])('a manifest that is gone is made again from the files (%s)', async (how) => {
  const dir = await closedStore()
  if (how === 'remove') await rm(`${dir}/MANIFEST.json`)
  else await writeFile(`${dir}/MANIFEST.json`, '{"format":1')
  expect(await repair(dir)).toMatchObject({ repaired: true, seq: 7, quarantined: [] })
  const store = await openTemp(dir)
  expect(await contents(store)).toEqual(upTo('g'))
  expect(store.storeId).toBe('rebuilt')
})

test('any single damaged byte can be repaired, and what is kept is a beginning of what was', async () => {
  const dir = await closedStore()
  const names = ['journal-3.ndjson', 'journal-5.ndjson', 'journal-7.ndjson', 'snapshot-2.ndjson', 'snapshot-4.ndjson']
  const originals = await Promise.all(names.map((name) => readFile(`${dir}/${name}`)))
  const manifest = await readFile(`${dir}/MANIFEST.json`)
  for (const [i, name] of names.entries()) {
    const bytes = originals[i] as Buffer
    for (let at = 0; at < bytes.length; at += 97) {
      const spoiled = Buffer.from(bytes)
      spoiled[at] = (spoiled[at] as number) ^ 1
      await writeFile(`${dir}/${name}`, spoiled)
      await repair(dir)
      const store = await openLowdbStore(options(dir))
      const kept = await contents(store)
      expect(upTo('g').slice(0, kept.length), `${name} ${at}`).toEqual(kept)
      await store.close()
      await writeFile(`${dir}/MANIFEST.json`, manifest)
      for (const [n, other] of names.entries()) await writeFile(`${dir}/${other}`, originals[n] as Buffer)
    }
  }
})
