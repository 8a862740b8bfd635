import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startChild } from '../../../fixtures/kit/child.ts'
import { runs } from '../../../fixtures/kit/depth.ts'
import { type Account, accounts, collectionsUnderTest } from '../conformance/world.testkit.ts'
import type { Store } from '../port.ts'
import { cleanUp, openTemp, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'

/* A process with rows in LevelDB is killed with SIGKILL, again and again on the same files. */

cleanUp()

const KILLS = runs(100, 6)
/** A store that has grown takes long to look through. */
const KILLS_A_STORE = 20
const LIFE_MS = 300
const PAGE = 1_000
/** The newest rows, which no writer has deleted yet. */
const KEPT = 60
/** Fronts that this thread moves, and some that take a thread. */
const FRONT_BYTES = [64 * 1024, 1024 * 1024] as const

async function rowsBy(store: Store, index: 'owner' | 'open'): Promise<Account[]> {
  const all: Account[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store
      .table(accounts)
      .page(index, ['ann'], { limit: PAGE, ...(after === undefined ? {} : { after }) })
    all.push(...page.rows)
    after = page.more ? page.cursor : null
  }
  return all
}

test('what was acknowledged is there, whole and once, after every kill', async () => {
  let [dir, last] = [await tempDir(), 0]
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (kill % KILLS_A_STORE === KILLS_A_STORE - 1) [dir, last] = [await tempDir(), 0]
    const compactAboveBytes = FRONT_BYTES[kill % FRONT_BYTES.length]
    const writer = startChild('rows-writer.ts', { dir, from: last + 1, compactAboveBytes })
    const acknowledged = [await writer.line()]
    const rest = writer.rest()
    await sleep(Math.random() * LIFE_MS)
    await writer.kill()
    acknowledged.push(...(await rest))
    const store = await openTemp(dir)
    const rows = await rowsBy(store, 'owner')
    const there = new Map(rows.map((row) => [row.id, row]))
    expect([there.size, (await rowsBy(store, 'open')).length]).toEqual([rows.length, rows.length])
    expect(store.stats().records).toBe(rows.length + 1)
    // Nothing of this life has gone yet but what ten times as many writers wrote after it.
    expect(acknowledged.slice(-KEPT).filter((n) => !there.has(`row ${n}`))).toEqual([])
    const sum = await store.read((t) => t.table(accounts).get('sum'))
    expect(sum?.balance).toBe(rows.reduce((total, { balance }) => total + balance, 0n))
    const isRight = ({ email, sales, balance }: Account) => email === (sales === 1 ? null : `${balance}@x`)
    expect(rows.filter((row) => !isRight(row))).toEqual([])
    last = Math.max(...rows.map(({ balance }) => Number(balance)))
    await store.close()
    expect((await verifyStore({ dir, collections: collectionsUnderTest })).records).toBe(rows.length + 1)
  }
})
