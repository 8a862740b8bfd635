import type { PgAddress } from '../../daemon/store/postgres/address.ts'
import { type Connection, connectPrimary } from '../../daemon/store/postgres/connection.ts'
import { openPgStore, type PgStore } from '../../daemon/store/postgres/open.ts'
import { type Fleet, openFleet, until } from '../../fixtures/kit/fleet.ts'
import { hasPostgres, startPostgres, type TestServer } from '../../fixtures/kit/postgres.ts'
import { purchase, purchaseCollections } from './purchase.ts'
import { figure, type Measured, median, quantile, ratios, timeOf } from './report.ts'

/*
 * PostgreSQL: how many purchases a lane commits, alone and beside two others, against a loop that inserts as many rows
 * without any rule; what the hop through a front costs a catalog page, and how soon all daemons answer with an act at one
 * of them. Everything is synced.
 */

const WRITERS = [1, 16, 64] as const
const ROUNDS = 4
const ROUND_MS = 1_500
const PAGES = 400
const ACTS = 200
const LANES = 3
const MILLISECONDS_A_SECOND = 1_000
/** Tables of the bare inserts, with a key and an index as the lane's tables have. */
const TABLES = ['a', 'b', 'c', 'd', 'e'].map((name) => `bare_${name}`)
const DOC = JSON.stringify({ text: 'x'.repeat(400) })

/** The database section of the report. */
export async function database(): Promise<readonly Measured[]> {
  if (!hasPostgres()) return []
  const server = await startPostgres([])
  try {
    return [...(await laneRates(server)), ...(await hops(server))]
  } finally {
    await server.stop()
  }
}

async function laneRates(server: TestServer): Promise<Measured[]> {
  const one = await lanes(server.addressOf('bench_one'), 1)
  const three = await lanes(server.addressOf('bench_three'), LANES)
  const address = server.addressOf('public')
  await server.sql(
    ...TABLES.flatMap((name) => [
      `create table ${name} (k text primary key, at int8, doc json)`,
      `create index on ${name} (at, k)`,
    ]),
  )
  const rows: Measured[] = []
  for (const writers of WRITERS) {
    const rates = { one: [] as number[], three: [] as number[], bare: [] as number[] }
    const sessions = await Promise.all(Array.from({ length: writers }, () => connectPrimary(address, 'bench')))
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.bare.push(await rate(writers, (writer) => insert(sessions[writer])))
      rates.one.push(await rate(writers, () => buy(one[0])))
      rates.three.push(await rate(writers, (writer) => buy(three[writer % LANES])))
    }
    await Promise.all(sessions.map((session) => session.end()))
    const detail = `${figure(median(rates.one))}, ${figure(median(rates.three))} and ${figure(median(rates.bare))} a second`
    const floors = { 1: [0.4, 0], 16: [1, 0.4], 64: [1.5, 0.8] }[writers]
    rows.push(
      {
        name: `purchases/s at ${writers} writers, one lane / bare inserts`,
        values: ratios(rates.one, rates.bare),
        budget: { atLeast: floors[0] ?? 0 },
      },
      {
        name: `purchases/s at ${writers} writers, three lanes / bare inserts`,
        values: ratios(rates.three, rates.bare),
        budget: { atLeast: floors[1] ?? 0 },
        detail,
      },
    )
  }
  for (const store of [...one, ...three]) await store.close()
  return rows
}

/** Above those that a store was filled with. */
let purchases = 100_000_000
/** Number of a purchase that nobody has made. */
function next(): number {
  purchases += 1
  return purchases
}

/** What a program does that has no lane: a statement after the other, each waiting for the one before. */
async function insert(session: Connection | undefined): Promise<void> {
  const n = next()
  await session?.script('begin')
  for (const name of TABLES)
    await session?.query(`insert into ${name} values ($1, $2, $3::text::json)`, [`${name}_${n}`, n, DOC])
  await session?.commit()
}

/** A body may run twice, so it does not draw the number itself. */
export async function buy(store: PgStore | undefined): Promise<void> {
  const n = next()
  await store?.tx((t) => purchase(t, n))
}

/** Transactions that wait for a processor others use are not cut. */
const WATCHDOG_MS = 300_000

export async function lanes(address: PgAddress, count: number): Promise<PgStore[]> {
  const stores: PgStore[] = []
  const onFatal = (error: Error): never => {
    throw error
  }
  const options = { collections: purchaseCollections, label: 'bench', isShared: count > 1, watchdogMs: WATCHDOG_MS }
  while (stores.length < count) stores.push(await openPgStore({ address, onFatal, ...options }))
  return stores
}

/** How often a second all writers together do something, each again as soon as it is done. */
export async function rate(writers: number, act: (writer: number) => Promise<unknown> | undefined): Promise<number> {
  const started = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      while (performance.now() - started < ROUND_MS) {
        await act(writer)
        done += 1
      }
    }),
  )
  return (done * MILLISECONDS_A_SECOND) / (performance.now() - started)
}

async function hops(server: TestServer): Promise<Measured[]> {
  const fleet = await openFleet(`postgres://souk@/postgres?host=${server.folder}&schema=bench_fleet`, LANES)
  try {
    const times = { leader: [] as number[], front: [] as number[] }
    const led = await fleet.leader()
    for (let page = 0; page < PAGES; page += 1) {
      const read = (n: number) => async () =>
        (await fetch(`${fleet.urlOf(n)}/v1/services/catalog?limit=20&offset=${page % 2}`)).arrayBuffer()
      times.leader.push(await timeOf(read(led)))
      times.front.push(await timeOf(read((led + 1) % LANES)))
    }
    const pages = ([0.5, 0.99] as const).map((share) => {
      const [front, leader] = [quantile(times.front, share), quantile(times.leader, share)]
      const detail = `${figure(front)} / ${figure(leader)} ms, one request at a time`
      return {
        name: `catalog page p${share * 100} through a front / at the leader`,
        values: [front / leader],
        budget: { atMost: 4 },
        detail,
      }
    })
    return [...pages, await lag(fleet)]
  } finally {
    await fleet.close()
  }
}

/** From the response to an operator's act at one daemon until each of them answers with it. */
async function lag(fleet: Fleet): Promise<Measured> {
  const times: number[] = []
  for (let act = 0; act < ACTS; act += 1) {
    const paused = act % 2 === 0
    const path = `/dashboard/api/admin/platform/${paused ? 'pause' : 'unpause'}`
    const { status, text } = await fleet.calls(act % LANES).admin('POST', path, { body: { reason: 'bench' } })
    if (status !== 200) throw new Error(text)
    const all = Array.from({ length: LANES }, (_, n) => fleet.calls(n))
    const seen = () => all.map(({ call }) => until(async () => (await call('GET', '/health')).body.paused === paused))
    times.push(await timeOf(() => Promise.all(seen())))
  }
  return {
    name: 'p99 until all three daemons answer with an act at one of them',
    values: [quantile(times, 0.99)],
    unit: 'ms',
    budget: { atMost: 300 },
    detail: `p50 ${figure(median(times))} ms, three requests`,
  }
}
