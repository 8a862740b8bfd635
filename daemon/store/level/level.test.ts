import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { answersOf, keys, type Put, put, shape, whole } from '../conformance/answers.testkit.ts'
import { conformance } from '../conformance/suite.testkit.ts'
import { account, accounts, collectionsUnderTest, idsOf, seed } from '../conformance/world.testkit.ts'
import { type Front, frontOver } from '../engine/front.ts'
import { type Base, createRowSet, putRow, readsOf, type TableReads } from '../engine/rows.ts'
import { shapeTable } from '../engine/tables.ts'
import { StoreDamaged } from '../errors.ts'
import { openMemoryStore } from '../memory/open.testkit.ts'
import type { AnyCollection } from '../port.ts'
import { openLevelDb } from './db.ts'
import { type LevelBase, openLevel } from './level.ts'

// @slow random histories with every size of front

async function opened(dir: string, under: readonly AnyCollection[]): Promise<LevelBase> {
  return openLevel(await openLevelDb(dir), { dir, shapes: under.map((collection) => shapeTable(collection)) })
}

/** A store whose rows go down to LevelDB each time that so many changes have gathered. */
async function openFronted(
  dir: string,
  waitingMax: number,
  { under = collectionsUnderTest, ...options }: { under?: readonly AnyCollection[]; watchdogMs?: number } = {},
) {
  const level = await opened(dir, under)
  const front = frontOver(level)
  let flushing: Promise<void> | undefined
  let seq = level.reflects()
  const flush = (): void => {
    if (flushing !== undefined || front.waiting() <= waitingMax) return
    flushing = front.flush(seq).then(() => {
      flushing = undefined
      flush()
    })
  }
  const base: Base = {
    ...front,
    apply(staged) {
      front.apply(staged)
      seq += 1
      flush()
    },
  }
  const store = openMemoryStore(under, { ...options, wrap: () => base })
  const end = async () => {
    await store.close()
    while (flushing !== undefined) await flushing
    await level.close()
  }
  return { store, level, front, end }
}

const folder = () => mkdtemp(`${tmpdir()}/souk-level-`)

describe.each([0, 1, 3, 1_000])('with a front of %i changes', (waitingMax) => {
  conformance({
    name: 'LevelDB',
    open: async (under, options) => {
      const dir = await folder()
      const { store, end } = await openFronted(dir, waitingMax, { under, ...options })
      return { store, end: () => end().then(() => rm(dir, { recursive: true })) }
    },
  })
})

/** Writes a row as a transaction would, that found the one before. */
async function write({ tables, apply }: Base, one: Put): Promise<void> {
  const before = (await tables.get('accounts')?.rows([one.key]))?.[0]
  const row = whole(one)
  if (row !== null || before !== undefined) apply([{ write: { collection: 'accounts', key: one.key, row }, before }])
}

/** Writes each row, and flushes not at all, beside what follows, or before it. @returns when the last flush ends */
async function writeAll(front: Front, puts: readonly Put[]): Promise<{ readonly flushing: Promise<void> }> {
  let flushing: Promise<void> = Promise.resolve()
  for (const one of puts) {
    await write(front, one)
    if (one.layer > 0) flushing = flushing.then(() => front.flush(1))
    if (one.layer > 1) await flushing
  }
  return { flushing }
}

test('rows read the same wherever a flush has come between', () =>
  inFolder(async (dir) => {
    const { front, level, end } = await openFronted(dir, 1_000)
    const reads = front.tables.get('accounts') as TableReads
    const none = keys.map((key): Put => ({ key, row: null, layer: 0 }))
    const puts = fc.array(put, { maxLength: 16 })
    await fc.assert(
      fc.asyncProperty(puts, fc.integer({ min: 1, max: 5 }), async (list, limit) => {
        const plain = createRowSet(shape)
        for (const one of list) putRow(plain, one.key, whole(one))
        const { flushing } = await writeAll(front, [...none, ...list])
        const expected = await answersOf(readsOf(plain), 100)
        expect(await answersOf(reads, limit)).toEqual(expected)
        await flushing
        await front.flush(2)
        expect(await answersOf(reads, limit)).toEqual(expected)
        expect([front.records(), level.records(), front.waiting()]).toEqual([plain.rows.size, plain.rows.size, 0])
      }),
      { numRuns: 60 },
    )
    await end()
  }))

async function inFolder(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = await folder()
  try {
    await body(dir)
  } finally {
    await rm(dir, { recursive: true })
  }
}

test('what was handed over is there when it opens again, with the number of its last transaction', () =>
  inFolder(async (dir) => {
    const first = await openFronted(dir, 1_000)
    await seed(first.store, [account('a', { email: 'x' }), account('b')])
    await first.front.flush(7)
    await seed(first.store, [account('c')])
    await first.end()
    const second = await openFronted(dir, 1_000)
    expect([second.level.reflects(), second.store.stats().records]).toEqual([7, 2])
    expect(await idsOf(second.store, 'owner', ['ann'])).toEqual(['a', 'b'])
    await expect(seed(second.store, [account('d', { email: 'x' })])).rejects.toThrow('email')
    await second.end()
  }))

test('what LevelDB refused is read from the front and handed over again', () =>
  inFolder(async (dir) => {
    const level = await opened(dir, collectionsUnderTest)
    let isFull = true
    const write: LevelBase['write'] = (...all) => (isFull ? Promise.reject(new Error('no room')) : level.write(...all))
    const front = frontOver({ ...level, write })
    const store = openMemoryStore(collectionsUnderTest, { wrap: () => front })
    await seed(store, [account('a')])
    await expect(front.flush(1)).rejects.toThrow('no room')
    await seed(store, [account('b')])
    expect(await idsOf(store, 'owner', ['ann'])).toEqual(['a', 'b'])
    isFull = false
    await front.flush(2)
    expect([level.reflects(), level.records(), front.waiting()]).toEqual([1, 1, 1])
    await front.flush(2)
    expect([level.reflects(), level.records(), front.waiting()]).toEqual([2, 2, 0])
    await store.close()
    await level.close()
  }))

test('a byte that flipped in a row is found and named', () =>
  inFolder(async (dir) => {
    const { store, front, end } = await openFronted(dir, 1_000)
    await seed(store, [account('a')])
    await front.flush(1)
    await end()
    const raw = await openLevelDb(dir)
    for (const [key, value] of await raw.iterator({ gte: Buffer.from('r'), lt: Buffer.from('s') }).all()) {
      value[value.length - 5] = (value[value.length - 5] ?? 0) ^ 1
      await raw.put(key, value)
    }
    await raw.close()
    const again = await openFronted(dir, 1_000)
    const read = again.store.table(accounts).get('a')
    await expect(read).rejects.toThrow(StoreDamaged)
    await expect(read).rejects.toThrow('accounts a')
    await again.end()
  }))
