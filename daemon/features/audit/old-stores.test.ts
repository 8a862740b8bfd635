import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { zstdDecompressSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { type Calls, callsTo } from '../../../fixtures/market/marketplace.ts'
import { type Contents, contentsOf, type UnderWay } from '../../../fixtures/old-stores/contents.testkit.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { createDaemon, type Daemon, verifyData } from '../../index.ts'
import { FORMAT } from '../../store/migrations.ts'

// @slow stores of every earlier format

// @story each store is opened, worked on and audited

const STORES = join(import.meta.dirname, '../../../fixtures/old-stores')
const names = (await readdir(STORES))
  .filter((name) => name.endsWith('.tar.zst'))
  .map((name) => name.split('.')[0] ?? '')

/** Every file of a packed store, laid where a daemon looks for it. */
async function unpack(name: string, store: string): Promise<void> {
  const files = Readable.from([zstdDecompressSync(await readFile(join(STORES, `${name}.tar.zst`)))]).pipe(extract())
  for await (const file of files) {
    const path = join(store, file.header.name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, await buffer(file))
  }
}

/** By how many rows each status of a collection has grown or shrunk. */
function changed(before: Contents['states'], after: Contents['states']): Record<string, number> {
  const flat = (states: Contents['states']) =>
    Object.entries(states).flatMap(([name, counts]) =>
      Object.entries(counts).map(([status, count]): [string, number] => [`${name} ${status}`, count]),
    )
  const [was, is] = [new Map(flat(before)), new Map(flat(after))]
  const all = new Set([...was.keys(), ...is.keys()])
  const changes = [...all].map((key): [string, number] => [key, (is.get(key) ?? 0) - (was.get(key) ?? 0)])
  return Object.fromEntries(changes.filter(([, by]) => by !== 0))
}

test('a store of every format before this one is kept', () => {
  const older = Array.from({ length: FORMAT - 1 }, (_, index) => `format-${index + 1}`)
  expect(names).toEqual(expect.arrayContaining(older))
})

describe.each(names)('a store that an earlier build left behind, %s', (name) => {
  let dir: string
  let contents: Contents
  let daemon: Daemon
  let calls: Calls

  const keyOf = (job: keyof UnderWay) => ({ 'X-API-Key': contents.underWay[job].providerKey })
  const asProvider = (job: keyof UnderWay, path: string, body: unknown = {}) =>
    calls.call('POST', path, { body, headers: keyOf(job) })
  const jobOf = async (job: keyof UnderWay) =>
    (await calls.call('GET', `/v1/jobs/${contents.underWay[job].job}`, { headers: keyOf(job) })).body
  const start = async () => {
    const gone = Date.now() - contents.at - HOUR_MS
    const now = () => Date.now() - gone
    daemon = await createDaemon({ ...configDefaults, dataDir: dir }, { clock: { now, wall: now } })
    calls = callsTo(() => daemon.url, dir)
  }
  const audit = async () => (await calls.admin('GET', '/dashboard/api/admin/audit')).body

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'souk-old-store-'))
    contents = JSON.parse(await readFile(join(STORES, `${name}.json`), 'utf8'))
    await unpack(name, join(dir, 'store'))
  })
  afterAll(async () => {
    await daemon?.stop()
    await rm(dir, { recursive: true, force: true })
  })

  test('replays to the rows that the build wrote, none lost and none added', async () => {
    const { counts, damagedBlobs, torn } = await verifyData(dir)
    const added = Object.keys(counts).filter((collection) => !(collection in contents.counts))
    expect(counts).toEqual({ ...contents.counts, ...Object.fromEntries(added.map((collection) => [collection, 0])) })
    expect({ damagedBlobs, torn }).toEqual({ damagedBlobs: [], torn: undefined })
  })

  test('opens, keeps every status, finishes what the crash cut, and its books agree', async () => {
    await start()
    expect((await audit()).checks.filter((check: { ok: boolean }) => !check.ok)).toEqual([])
    await daemon.stop()
    const now = (await contentsOf(join(dir, 'store'))).states
    const { created = 0 } = contents.states.payouts ?? {}
    // Listings of the house follow the functions that this build has; all others stay as they were.
    const {
      'services active': opened = 0,
      'services inactive': closed = 0,
      'services suspended': waiting = 0,
      ...others
    } = changed(contents.states, now)
    expect(opened + closed + waiting).toBe(0)
    expect(others).toEqual({
      // What the chain had settled has become a sale; what never reached it is out of its window.
      'payments settling': -2,
      'payments fulfilled': 1,
      'payments released': 1,
      'jobs dispatched': 1,
      'job_parties dispatched': 2,
      'threads accepted': 1,
      'thread_parties accepted': 2,
      // Money on its way out has gone.
      ...(created > 0 ? { 'payouts created': -created, 'payouts confirmed': created } : {}),
    })
  })

  test('a job under way is delivered, another declined, a dispute decided; the books still agree', async () => {
    await start()
    const { underWay } = contents
    const done = { status: 'completed', deliverables: { words: 3 } }
    expect((await asProvider('in_progress', `/v1/jobs/${underWay.in_progress.job}/update`, done)).status).toBe(200)
    expect((await asProvider('dispatched', `/v1/threads/${underWay.dispatched.thread}/decline`)).status).toBe(200)
    const ruling = { outcome: 'release', reason: 'The words are there.' }
    const resolve = `/dashboard/api/admin/jobs/${underWay.disputed.job}/resolve`
    expect((await calls.admin('POST', resolve, { body: ruling })).status).toBe(200)
    for (const cron of ['escrow-monitor', 'provider-settlement']) {
      expect((await calls.admin('POST', `/dashboard/api/admin/crons/${cron}/run`)).body.run.result).toBe('success')
    }
    expect((await jobOf('in_progress')).escrow.status).toBe('released')
    expect((await jobOf('dispatched')).escrow.status).toBe('refunded')
    expect((await jobOf('disputed')).escrow.status).toBe('released')
    expect(await audit()).toMatchObject({ ok: true })
  })
})
