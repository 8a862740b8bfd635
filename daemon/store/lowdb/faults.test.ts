import { expect, test } from 'vitest'
import { account, accounts, seed } from '../conformance/world.testkit.ts'
import { realDisk } from '../disk.ts'
import { type Faults, faultyDisk } from '../disk-sim.testkit.ts'
import { StoreStopped } from '../errors.ts'
import type { LowdbStore } from './open.ts'
import { cleanUp, contents, openTemp, tempDir } from './temp.testkit.ts'

cleanUp()

const WRITERS = 8

/** Keeps writing until the store stops. @returns what it acknowledged */
async function writeUntilStopped(store: LowdbStore): Promise<{ acknowledged: string[]; errors: unknown[] }> {
  const acknowledged: string[] = []
  const errors: unknown[] = []
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; errors.length < WRITERS; i += 1) {
      const id = `w${writer}.${i}`
      try {
        await seed(store, [account(id)])
        acknowledged.push(`${id}:0`)
      } catch (error) {
        errors.push(error)
        return
      }
    }
  })
  await Promise.all(writers)
  return { acknowledged, errors }
}

/** Lets `n` calls on the journal through, then answers with the fault. */
function afterCalls<T>(n: number, value: T): (path: string) => T | undefined {
  let calls = 0
  return (path) => {
    if (!path.includes('journal-')) return undefined
    calls += 1
    return calls > n ? value : undefined
  }
}

const failures: Record<string, () => Faults> = {
  'no space for the first write': () => ({ writeFailsAfter: afterCalls(0, 0) }),
  'no space in the middle of a write': () => ({ writeFailsAfter: afterCalls(4, 100) }),
  'no space after whole lines of a batch': () => ({ writeFailsAfter: afterCalls(6, 700) }),
  'a failing sync': () => {
    const fails = afterCalls(5, true)
    return { syncFails: (path) => fails(path) ?? false }
  },
}

test.each(Object.entries(failures))('%s stops the store and loses nothing acknowledged', async (_what, faults) => {
  const dir = await tempDir()
  const fatal: StoreStopped[] = []
  const store = await openTemp(dir, { disk: faultyDisk(realDisk, faults()), onFatal: (error) => fatal.push(error) })
  const told: string[] = []
  store.subscribe(({ writes }) => told.push(`${writes[0]?.key}:0`))
  const { acknowledged, errors } = await writeUntilStopped(store)
  expect(errors.every((error) => error instanceof StoreStopped)).toBe(true)
  expect(fatal).toHaveLength(1)
  expect(told.sort()).toEqual(acknowledged.sort())
  await expect(store.tx((t) => t.table(accounts).get('a'))).rejects.toThrow(StoreStopped)
  await expect(store.table(accounts).get('a')).rejects.toThrow(StoreStopped)
  await expect(store.durable()).rejects.toThrow(StoreStopped)
  await store.close()
  const after = await openTemp(dir)
  const found = await contents(after)
  expect(acknowledged.filter((entry) => !found.includes(entry))).toEqual([])
  await seed(after, [account('z')])
})

test('short writes are carried on until all bytes are down', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir, { disk: faultyDisk(realDisk, { shortWriteBytes: 7 }) })
  await seed(store, [account('a', { note: 'ä€𝄞'.repeat(50) })])
  await store.compact()
  await seed(store, [account('b')])
  await store.close()
  const after = await openTemp(dir)
  expect(await after.table(accounts).get('a')).toMatchObject({ note: 'ä€𝄞'.repeat(50) })
  expect(await contents(after)).toEqual(['a:0', 'b:0'])
})

test('a failed snapshot stops the store and loses nothing acknowledged', async () => {
  const dir = await tempDir()
  const fatal: StoreStopped[] = []
  const faults: Faults = { syncFails: (path) => path.includes('snapshot-') }
  const store = await openTemp(dir, { disk: faultyDisk(realDisk, faults), onFatal: (error) => fatal.push(error) })
  await seed(store, [account('a')])
  await expect(store.compact()).rejects.toThrow('EIO')
  expect(fatal).toHaveLength(1)
  await store.close()
  expect(await contents(await openTemp(dir))).toEqual(['a:0'])
})

test('while the disk is nearly full writes are refused, reads go on, and space brings writes back', async () => {
  const dir = await tempDir()
  let free = 10
  const disk = faultyDisk(realDisk, { freeBytes: () => free })
  const store = await openTemp(dir, { disk, reserveBytes: 1000 })
  await expect(seed(store, [account('a')])).rejects.toMatchObject({ code: 'unavailable' })
  expect(await contents(store)).toEqual([])
  free = 5000
  await expect
    .poll(() =>
      seed(store, [account('b')]).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  expect(await contents(store)).toEqual(['b:0'])
})

test('compaction waits while its snapshot would not fit', async () => {
  const dir = await tempDir()
  const disk = faultyDisk(realDisk, { freeBytes: () => 3000 })
  const store = await openTemp(dir, { disk, reserveBytes: 1000, compactAboveBytes: 2500 })
  for (let i = 0; i < 40; i += 1) await seed(store, [account(`a${i}`)])
  expect(store.stats().journalBytes).toBeGreaterThan(2500)
  expect(await contents(store)).toHaveLength(40)
})
