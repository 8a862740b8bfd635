import { copyFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { account, accounts, seed } from '../conformance/world.testkit.ts'
import { realDisk } from '../disk.ts'
import { hastyDisk } from '../disk-sim.testkit.ts'
import { StoreDamaged, StoreFormatUnknown } from '../errors.ts'
import { frame } from './frame.ts'
import { openLowdbStore } from './open.ts'
import { cleanUp, contents, journals, openTemp, options, tempDir } from './temp.testkit.ts'

// @slow damage at every place

cleanUp()

/** A closed store of `ids.length` transactions, one account each, one journal segment. */
async function closedStore(ids: readonly string[]): Promise<string> {
  const dir = await tempDir()
  const store = await openLowdbStore(options(dir))
  for (const id of ids) await seed(store, [account(`${id}1`), account(`${id}2`, { sales: 1 })])
  await store.close()
  return dir
}

/** A closed store with a closed first segment and a second one that grew. */
async function twoSegments(): Promise<string> {
  const dir = await tempDir()
  const store = await openLowdbStore(options(dir))
  for (const id of ['a', 'b', 'c']) await seed(store, [account(id)])
  await store.backup(`${await tempDir()}/copy`)
  for (const id of ['d', 'e']) await seed(store, [account(id)])
  await store.close()
  return dir
}

async function onlyJournal(dir: string): Promise<{ path: string; text: string }> {
  const [journal] = await journals(dir)
  if (journal === undefined) throw new Error('no journal')
  return journal
}

async function refusal(dir: string): Promise<StoreDamaged> {
  const error = await openTemp(dir).then(
    () => new Error('it opened'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(StoreDamaged)
  return error as StoreDamaged
}

test('a journal cut at any byte of its last two transactions keeps exactly the whole ones', async () => {
  const dir = await closedStore(['a', 'b', 'c'])
  const { path, text } = await onlyJournal(dir)
  const ends = [...text.matchAll(/\n/g)].map((match) => match.index + 1)
  const lists = [[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map((ids) => ids.flatMap((id) => [`${id}1:0`, `${id}2:1`]))
  for (let size = ends[0] as number; size <= text.length; size += 1) {
    await writeFile(path, text.slice(0, size))
    const whole = ends.filter((end) => end <= size).length
    const store = await openLowdbStore(options(dir, { disk: hastyDisk(realDisk) }))
    expect(await contents(store)).toEqual(lists[whole])
    const lost = size - (ends[whole - 1] as number)
    expect(store.recovery.torn?.droppedBytes ?? 0).toBe(lost)
    await seed(store, [account('z')])
    await store.close()
    expect((await onlyJournal(dir)).text.slice(0, ends[whole - 1])).toBe(text.slice(0, ends[whole - 1]))
  }
})

test.each([
  ['zeros', '\0'.repeat(5000)],
  ['garbage', '0badc0de {"s":4}\n\n\nnonsense\n'],
  ['a line without its end', 'deadbeef {"s":4,"t":1,"w":['],
])('a tail of %s is cut off and reported', async (_what, tail) => {
  const dir = await closedStore(['a', 'b', 'c'])
  const { path, text } = await onlyJournal(dir)
  await writeFile(path, text + tail)
  const store = await openTemp(dir)
  expect(await contents(store)).toHaveLength(6)
  expect(store.recovery.torn).toEqual({ file: path, offset: text.length, droppedBytes: tail.length })
  expect((await onlyJournal(dir)).text).toBe(text)
})

test('a byte flipped in the middle refuses with file, offset and the repair command', async () => {
  const dir = await closedStore(['a', 'b', 'c'])
  const { path, text } = await onlyJournal(dir)
  const second = text.indexOf('\n') + 1
  await writeFile(path, `${text.slice(0, second + 60)}#${text.slice(second + 61)}`)
  expect(await refusal(dir)).toMatchObject({ file: path, offset: second, repair: 'souk doctor --repair' })
  expect((await refusal(dir)).message).toContain('souk doctor --repair')
  expect((await onlyJournal(dir)).text).toHaveLength(text.length)
})

test('a transaction that is gone refuses where the gap is', async () => {
  const dir = await closedStore(['a', 'b', 'c'])
  const { path, text } = await onlyJournal(dir)
  const [first, , third] = text.split('\n')
  await writeFile(path, `${first}\n${third}\n`)
  expect(await refusal(dir)).toMatchObject({ file: path, offset: (first as string).length + 1 })
})

test('a transaction twice refuses', async () => {
  const dir = await closedStore(['a'])
  const { path, text } = await onlyJournal(dir)
  await writeFile(path, text + text)
  expect(await refusal(dir)).toMatchObject({ file: path, offset: text.length })
})

test.each([0, 1])('a lost segment refuses, whichever it is', async (index) => {
  const dir = await twoSegments()
  const { path } = (await journals(dir))[index] as { path: string }
  await rm(path)
  expect(await refusal(dir)).toMatchObject({ file: path, offset: 0 })
})

test('a torn end of an older segment refuses', async () => {
  const dir = await twoSegments()
  const [older] = await journals(dir)
  const size = older?.text.length ?? 0
  await truncate(older?.path ?? '', size - 1)
  expect(await refusal(dir)).toMatchObject({ file: older?.path })
})

test('a segment that the manifest does not list refuses', async () => {
  const dir = await twoSegments()
  const [, newer] = await journals(dir)
  await copyFile(newer?.path ?? '', `${dir}/journal-6.ndjson`)
  expect(await refusal(dir)).toMatchObject({ file: `${dir}/journal-6.ndjson` })
})

test('a lost manifest refuses', async () => {
  const dir = await twoSegments()
  await rm(`${dir}/MANIFEST.json`)
  expect(await refusal(dir)).toMatchObject({ file: `${dir}/MANIFEST.json` })
})

test('data of a collection that this souk does not know refuses', async () => {
  const dir = await closedStore(['a'])
  const others = [{ ...accounts, name: 'others' }]
  await expect(openTemp(dir, { collections: others })).rejects.toThrow(StoreFormatUnknown)
})

/** A closed store whose snapshot stands on 3 transactions, with 2 more in the journal. */
async function snapshotted(): Promise<string> {
  const dir = await tempDir()
  const store = await openLowdbStore(options(dir))
  for (const id of ['a', 'b', 'c']) await seed(store, [account(id)])
  await store.compact()
  for (const id of ['d', 'e']) await seed(store, [account(id)])
  await store.close()
  return dir
}

test('a snapshot and the journal after it make the whole state', async () => {
  const dir = await snapshotted()
  const store = await openTemp(dir)
  expect(await contents(store)).toEqual(['a:0', 'b:0', 'c:0', 'd:0', 'e:0'])
  expect(store.recovery).toMatchObject({ seq: 5, snapshotRecords: 3, replayed: 2 })
})

test('a snapshot damaged at any line refuses', async () => {
  const dir = await snapshotted()
  const path = `${dir}/snapshot-3.ndjson`
  const text = await readFile(path, 'utf8')
  for (const [i, line] of text.trimEnd().split('\n').entries()) {
    const offset = text.indexOf(line)
    await writeFile(path, `${text.slice(0, offset + 12)}#${text.slice(offset + 13)}`)
    expect(await refusal(dir), `line ${i}`).toMatchObject({ file: path, offset })
    await writeFile(path, text.slice(0, offset) + text.slice(offset + line.length + 1))
    expect(await refusal(dir), `without line ${i}`).toMatchObject({ file: path })
  }
})

test('a journal that ends before the moment of its snapshot refuses', async () => {
  const dir = await snapshotted()
  const path = `${dir}/snapshot-3.ndjson`
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  const footer = (lines.pop() as string).slice(9)
  await writeFile(path, `${lines.join('\n')}\n${frame(footer.replace('"through":3', '"through":5'))}`)
  await (await openLowdbStore(options(dir))).close()
  const last = (await journals(dir)).at(-1) as { path: string; text: string }
  await writeFile(last.path, `${last.text.split('\n')[0]}\n`)
  expect(await refusal(dir)).toMatchObject({ file: last.path })
})

test('compaction keeps one previous snapshot and removes what is older', async () => {
  const dir = await snapshotted()
  const store = await openTemp(dir)
  await store.compact()
  await seed(store, [account('f')])
  await store.compact()
  const names = (await readdir(dir)).filter((name) => name.endsWith('.ndjson')).sort()
  expect(names).toEqual(['journal-6.ndjson', 'journal-7.ndjson', 'snapshot-5.ndjson', 'snapshot-6.ndjson'])
  await store.close()
  expect(await contents(await openTemp(dir))).toHaveLength(6)
})

test('leftovers of a snapshot that did not finish are removed', async () => {
  const dir = await snapshotted()
  await writeFile(`${dir}/snapshot-5.ndjson.tmp`, 'half')
  await writeFile(`${dir}/journal-6.ndjson`, '')
  const store = await openTemp(dir)
  await store.compact()
  expect(await contents(store)).toHaveLength(5)
  expect(await readdir(dir)).not.toContain('snapshot-5.ndjson.tmp')
})

test('snapshots taken while writers go on recover to the whole state', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir, { compactAboveBytes: 4000 })
  const acknowledged = new Set<string>()
  const write = async (id: string): Promise<void> => {
    await seed(store, [account(id)])
    acknowledged.add(`${id}:0`)
  }
  for (let round = 0; round < 40; round += 1)
    await Promise.all(['x', 'y', 'z'].map((letter) => write(`${letter}${round}`)))
  await store.close()
  const names = (await readdir(dir)).filter((name) => name.startsWith('snapshot-'))
  expect(names.length).toBeGreaterThan(0)
  expect(await contents(await openTemp(dir))).toEqual([...acknowledged].sort())
})
