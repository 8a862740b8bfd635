import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allCollections } from '../../daemon/app.ts'
import { auditBooks } from '../../daemon/features/audit/audit.ts'
import { createDaemon, type Daemon, writeHistory } from '../../daemon/index.ts'
import { takeLock } from '../../daemon/store/lowdb/lock.ts'
import type { AnyCollection, Collection, Row } from '../../daemon/store/port.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { jobStatuses } from '../model/job.ts'
import { openSink } from './hand.ts'
import { DEMO_MS, liveDemo } from './seed.ts'

// @deep months are lived through

const UNTIL = Date.now()
/** What a machine draws anew: ids, keys and their hashes, wallets settings of the installation, signatures, ports of the test. */
const DRAWN = [
  /\b[a-z]+_[0-9a-f]{16,64}\b/g,
  /0x[0-9a-f]{40,}/gi,
  /\b[0-9a-f]{32,}\b/g,
  /[\w-]{8}-[\w-]{4}-[\w-]{4}-[\w-]{4}-[\w-]{12}/g,
  /whsec_[\w+/=]+/g,
  /127\.0\.0\.1:\d+/g,
]
/** When a random wait ends, and the order of what is done in the same moment, which follows from drawn ids. */
const LOOSE = new Set(['next_at', 'version', 'seq', 'tx', 'covers', 'key'])

const lived = (dataDir: string) =>
  writeHistory({
    dataDir,
    name: 'demo',
    from: UNTIL - DEMO_MS,
    until: UNTIL,
    act: async (past) => void (await liveDemo(past, UNTIL)),
  })

/** The data is there before the daemon is. */
const { seed: _, ...unseeded } = configDefaults

let folders: string[]
let daemon: Daemon
beforeAll(async () => {
  folders = await Promise.all([0, 1, 2].map(() => mkdtemp(join(tmpdir(), 'souk-demo-test-'))))
  const [one = '', other = ''] = folders
  expect(await Promise.all([lived(one), lived(other)])).toEqual(['written', 'written'])
  daemon = await createDaemon({ ...unseeded, dataDir: one })
})
afterAll(async () => {
  await daemon.stop()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** Rows that any index holds; of a collection without one there are none to see. */
async function rowsOf(of: Daemon, collection: AnyCollection): Promise<Row[]> {
  const rows = new Map<string, Row>()
  for (const { name } of collection.indexes) {
    for (const row of await rowsBy(of, collection, name)) rows.set(String(Reflect.get(row, collection.key)), row)
  }
  return [...rows.values()]
}

async function rowsBy({ ctx }: Daemon, collection: AnyCollection, index: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let after: string | undefined; ; ) {
    const query = { limit: 1_000, ...(after === undefined ? {} : { after }) }
    const page = await ctx.store.table(collection as Collection).page(index, [], query)
    rows.push(...page.rows)
    if (!page.more || page.cursor === null) return rows
    after = page.cursor
  }
}

function shown(key: string, value: unknown): unknown {
  if (LOOSE.has(key)) return ''
  return typeof value === 'bigint' ? `${value}n` : value
}

async function statuses(name: string, member = 'status'): Promise<string[]> {
  const collection = allCollections.find((one) => one.name === name)
  if (!collection) throw new Error(`there is no ${name}`)
  const rows = await rowsOf(daemon, collection)
  return [...new Set(rows.map((row) => String(Reflect.get(row, member))))].sort()
}

/** Every row without what is drawn, in the order of its text. */
async function told(of: Daemon): Promise<Record<string, string[]>> {
  const all: [string, string[]][] = []
  for (const collection of allCollections) {
    const rows = await rowsOf(of, collection as AnyCollection)
    // What the house sells is active from when its engines have been found, which takes as long as it takes.
    const texts = rows
      .filter((row) => !('first_party_slug' in row && row.first_party_slug !== null))
      .map((row) => JSON.stringify(row, shown))
    all.push([
      collection.name,
      texts.map((text) => DRAWN.reduce((left, drawn) => left.replace(drawn, '·'), text)).sort(),
    ])
  }
  return Object.fromEntries(all)
}

test('has a job in every state that a job can rest in', async () => {
  const passing = ['created', 'verified'] // left in the moment in which they are reached
  expect(await statuses('jobs')).toEqual(jobStatuses.filter((one) => !passing.includes(one)).toSorted())
})

test.each([
  [
    'threads',
    'status',
    ['accepted', 'cancelled', 'completed', 'disputed', 'in_progress', 'inquiry', 'negotiating', 'verified'],
  ],
  ['subscription_parties', 'status', ['active', 'canceled', 'expired', 'past_due', 'paused']],
  ['postings', 'status', ['awarded', 'cancelled', 'completed', 'expired', 'open']],
  ['bids', 'status', ['accepted', 'rejected', 'submitted', 'withdrawn']],
  ['products', 'status', ['active', 'draft']],
  ['payouts', 'status', ['confirmed']],
  ['verification_attempts', 'status', ['approved', 'pending_consent', 'vendor_pending']],
])('has %s in every state', async (name, member, expected) => {
  expect(await statuses(name, member)).toEqual(expected)
})

test('has messages that were taken, that wait and that were given up', async () => {
  expect(await statuses('deliveries', 'state')).toEqual(expect.arrayContaining(['dead', 'delivered']))
})

describe('its money', () => {
  test('is all accounted for: the books agree with the rows and with the chain', async () => {
    const { checks } = await auditBooks(daemon.ctx)
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
    expect(checks.length).toBeGreaterThan(5)
  })

  test('went through the chain, each payment signed', async () => {
    const transfers = await rowsOf(
      daemon,
      allCollections.find(({ name }) => name === 'sandbox_transfers') as AnyCollection,
    )
    expect(transfers.filter((row) => 'kind' in row && row.kind === 'authorization').length).toBeGreaterThan(50)
  })
})

test('ends at real time: no clock is moved, and nothing lies ahead of it', async () => {
  expect(Math.abs(daemon.ctx.clock.now() - Date.now())).toBeLessThan(60_000)
  const jobs = await rowsOf(daemon, allCollections.find(({ name }) => name === 'jobs') as AnyCollection)
  const times = jobs.map((row) => Number('created_at' in row && row.created_at))
  expect(Math.max(...times)).toBeLessThanOrEqual(UNTIL)
  expect(Math.min(...times)).toBeLessThan(UNTIL - 80 * 24 * 3_600_000)
})

test('is the same twice, but for what a machine draws anew', async () => {
  const other = await createDaemon({ ...unseeded, dataDir: folders[1] ?? '' })
  try {
    const [one, two] = [await told(daemon), await told(other)]
    for (const [name, texts] of Object.entries(one)) {
      const others = two[name] ?? []
      expect([name, texts.filter((text) => !others.includes(text))]).toEqual([name, []])
      expect([name, others.length]).toEqual([name, texts.length])
    }
  } finally {
    await other.stop()
  }
})

test('is lived once: a second time finds it there and leaves every byte', async () => {
  const [, other = '', copy = ''] = folders
  await cp(other, copy, { recursive: true })
  const manifest = join(copy, 'store', 'MANIFEST.json')
  expect(await lived(copy)).toBe('there')
  // The store is not even read for that: another daemon may hold it.
  const held = takeLock(join(copy, 'store'))
  expect(await lived(copy)).toBe('there')
  held.release()
  expect(await readFile(join(copy, 'admin.key'), 'utf8')).toBe(await readFile(join(other, 'admin.key'), 'utf8'))
  expect(JSON.parse(await readFile(manifest, 'utf8')).storeId).toBe(
    JSON.parse(await readFile(join(other, 'store', 'MANIFEST.json'), 'utf8')).storeId,
  )
})

test('a sink takes what it is sent', async () => {
  const sink = await openSink()
  const answer = await fetch(sink.url, { method: 'POST', body: '{}' })
  expect(answer.status).toBe(200)
  await sink.close()
})
