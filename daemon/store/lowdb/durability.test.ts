import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { account, accounts, seed } from '../conformance/world.testkit.ts'
import { type Disk, realDisk } from '../disk.ts'
import { cleanUp, contents, openTemp, tempDir } from './temp.testkit.ts'

cleanUp()

const TURNS = 20

/** A disk whose journal syncs wait until they are let through, and are counted. */
function gatedDisk(): { disk: Disk; hold(): void; letGo(): void; syncs(): number } {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let syncs = 0
  const disk: Disk = {
    ...realDisk,
    open: async (path, mode) => {
      const file = await realDisk.open(path, mode)
      if (!path.includes('journal-')) return file
      const datasync = async (): Promise<void> => {
        syncs += 1
        await gate.promise
        await file.datasync()
      }
      return { ...file, datasync }
    },
  }
  const hold = (): void => {
    gate = Promise.withResolvers()
  }
  return { disk, hold, letGo: () => gate.resolve(), syncs: () => syncs }
}

/** Names the promises that have settled while the disk was held. */
async function settledAmong(promises: Readonly<Record<string, Promise<unknown>>>): Promise<string[]> {
  const settled: string[] = []
  for (const [name, promise] of Object.entries(promises))
    promise.then(
      () => settled.push(name),
      () => settled.push(name),
    )
  for (let i = 0; i < TURNS; i += 1) await nextTurn()
  return settled
}

test('nothing is acknowledged, told or called durable before the disk has answered', async () => {
  const { disk, hold, letGo } = gatedDisk()
  const store = await openTemp(await tempDir(), { disk })
  const told: string[] = []
  store.subscribe(({ writes }) => told.push(writes[0]?.key ?? ''))
  hold()
  const write = seed(store, [account('a')])
  const lookInTx = store.tx((t) => t.table(accounts).get('a'))
  const later = seed(store, [account('b')])
  await nextTurn()
  expect(await contents(store)).toEqual(['a:0', 'b:0'])
  expect(await settledAmong({ write, lookInTx, later, durable: store.durable() })).toEqual([])
  expect(told).toEqual([])
  letGo()
  expect(await lookInTx).toMatchObject({ id: 'a' })
  await Promise.all([write, later])
  expect(told).toEqual(['a', 'b'])
})

test('transactions that arrive during a sync share the next one', async () => {
  const { disk, hold, letGo, syncs } = gatedDisk()
  const store = await openTemp(await tempDir(), { disk })
  const before = syncs()
  hold()
  const writes = Array.from({ length: 50 }, (_, i) => seed(store, [account(`a${i}`)]))
  await settledAmong({})
  letGo()
  await Promise.all(writes)
  expect(syncs() - before).toBeLessThanOrEqual(3)
})

test('durability `os` acknowledges without a sync, and closing makes up for it', async () => {
  const { disk, syncs } = gatedDisk()
  const store = await openTemp(await tempDir(), { disk, durability: 'os' })
  const before = syncs()
  await seed(store, [account('a')])
  expect(syncs()).toBe(before)
  await store.close()
  expect(syncs()).toBe(before + 1)
})

test('closing waits for what is under way and loses none of it', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir)
  const writes = ['a', 'b', 'c'].map((id) => seed(store, [account(id)]))
  await nextTurn()
  await store.close()
  const outcomes = await Promise.allSettled(writes)
  const kept = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [`${'abc'[i]}:0`] : []))
  expect(await contents(await openTemp(dir))).toEqual(kept)
})
