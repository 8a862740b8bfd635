import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../fixtures/kit/depth.ts'
import { account, accounts, seed } from '../conformance/world.testkit.ts'
import { simulatedDisk } from '../disk-sim.testkit.ts'
import { simulatedDb } from '../level/db-sim.testkit.ts'
import type { Store } from '../port.ts'
import { type LowdbStoreOptions, openLowdbStore } from './open.ts'
import { cleanUp, contents, options, tempDir } from './temp.testkit.ts'

// @slow a loss of power at every write

cleanUp()

const RUNS = runs(150, 40)
/** Some syncs take long, so that whatever must wait for one is caught when it does not. */
const SLOW_SYNC_SHARE = 0.3
const SLOW_SYNC_TURNS = 40
const WRITERS = 3
const ROUNDS = 4
const TX_PER_ROUND = 5

/** Repeatable luck in [0, 1). */
function luckOf(seedNumber: number): () => number {
  let state = seedNumber >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Ledger = { readonly acknowledged: Set<string>; readonly attempted: Set<string> }

/** Rounds of writers, with a compaction beside every other one; stops by itself when the power goes. */
async function work(store: Store & { compact(): Promise<void> }, ledger: Ledger, name: string): Promise<void> {
  const write = async (id: string): Promise<void> => {
    ledger.attempted.add(id)
    await seed(store, [account(`${id}-left`), account(`${id}-right`)])
    ledger.acknowledged.add(id)
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; i < TX_PER_ROUND; i += 1) await write(`${name}${round}.${writer}.${i}`)
    })
    await Promise.all([...(round % 2 === 1 ? [store.compact()] : []), ...writers])
  }
}

/** Both halves of every acknowledged transaction are there, and no half of any. */
async function check(store: Store, { acknowledged, attempted }: Ledger): Promise<void> {
  const found = new Set((await contents(store)).map((entry) => entry.split(':')[0] as string))
  for (const id of attempted) {
    expect(found.has(`${id}-left`), `${id} is whole or absent`).toBe(found.has(`${id}-right`))
    if (acknowledged.has(id)) expect(found.has(`${id}-left`), `${id} was acknowledged`).toBe(true)
  }
  expect(await store.table(accounts).count('owner', ['ann'])).toBe(found.size)
}

const cuts = fc.record({
  steps: fc.array(fc.integer({ min: 1, max: 160 }), { minLength: 1, maxLength: 3 }),
  luck: fc.nat(),
})

/** Lives that the power ends, over one disk and what LevelDB had on it, and what is found after them. */
async function survives({ steps, luck }: { steps: number[]; luck: number }, kind: Kind): Promise<void> {
  const dir = await tempDir()
  let disk = simulatedDisk()
  let level = simulatedDb(disk, kind)
  const openings = () => options(dir, { disk, openDb: level.open, onFatal: () => undefined, ...kind.options })
  const ledger: Ledger = { acknowledged: new Set(), attempted: new Set() }
  for (const [life, step] of steps.entries()) {
    disk.cutAt(disk.steps() + step)
    const pace = luckOf(luck ^ life)
    disk.slowSyncs(() => (pace() < SLOW_SYNC_SHARE ? Math.floor(pace() * SLOW_SYNC_TURNS) : 0))
    await live(openings(), ledger, `l${life}-`)
    disk = disk.survivor(luckOf(luck + life))
    level = level.survivor(disk)
  }
  const store = await openLowdbStore(openings())
  await check(store, ledger)
  await store.close()
}

type Kind = { readonly options: Partial<LowdbStoreOptions>; readonly isSynced?: boolean }
const inLevel = { levelFrom: 0, compactAboveBytes: 1_000 } as const
const kinds: Readonly<Record<string, Kind>> = { memory: { options: {} }, LevelDB: { options: inLevel } }

test.each(Object.entries(kinds))(
  'a power cut at any step loses nothing acknowledged and applies nothing by halves, rows in %s',
  (_where, kind) =>
    fc.assert(
      fc.asyncProperty(cuts, (cut) => survives(cut, kind)),
      { numRuns: RUNS },
    ),
)

test('the same finds out a LevelDB that says of rows that they are durable when they are not', async () => {
  const lying = { options: inLevel, isSynced: false }
  const found = await fc.check(
    fc.asyncProperty(cuts, (cut) => survives(cut, lying)),
    { numRuns: 200, endOnFailure: true },
  )
  expect(found.failed).toBe(true)
})

/** Opens, checks and works until the power goes; the errors of that moment are what is being tested. */
async function live(opts: ReturnType<typeof options>, ledger: Ledger, name: string): Promise<void> {
  const store = await openLowdbStore(opts).catch(() => undefined)
  if (store === undefined) return
  await check(store, ledger)
  await work(store, ledger, name).catch(() => undefined)
  await store.close().catch(() => undefined)
}
