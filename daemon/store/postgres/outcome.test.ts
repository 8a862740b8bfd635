import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hasPostgres } from '../../../fixtures/kit/postgres.ts'
import { account, accounts, collectionsUnderTest, seed } from '../conformance/world.testkit.ts'
import type { Change } from '../port.ts'
import type { PgAddress } from './address.ts'
import type { PgStore } from './open.ts'
import { dropSchema, freshAddress, inSession, openTestStore } from './store.testkit.ts'

/* Connections that are cut at the worst moments, by a proxy in between. */

/** What the next commit meets: it does not reach the server, or its answer does not come back. */
type Cut = 'none' | 'before the commit' | 'after the commit'

const COMMIT = Buffer.from('commit\0')
const COMMITTED = Buffer.from('COMMIT\0')
let next: Cut
let cuts: number
/** Whether nobody gets through any more once a connection was cut. */
let isAwayThen: boolean
let stopping: AbortController
let proxy: Server
let direct: PgAddress
let store: PgStore
const heard: Change[] = []

function between(client: Socket, server: Socket): void {
  if (isAwayThen && cuts > 0) {
    client.destroy()
    server.destroy()
    return
  }
  /** The name of the prepared statement that commits is told once; later only the answer tells. */
  const end = () => {
    next = 'none'
    cuts += 1
    client.destroy()
    server.destroy()
  }
  client.on('data', (bytes) => (next === 'before the commit' && bytes.includes(COMMIT) ? end() : server.write(bytes)))
  server.on('data', (bytes) => (next === 'after the commit' && bytes.includes(COMMITTED) ? end() : client.write(bytes)))
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
}

beforeEach(async () => {
  next = 'none'
  cuts = 0
  isAwayThen = false
  stopping = new AbortController()
  heard.length = 0
  direct = await freshAddress()
  const [socket] = direct.hosts
  proxy = createServer((client) => between(client, connect(join(socket?.host ?? '', '.s.PGSQL.5432'))))
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as { port: number }
  const address: PgAddress = { ...direct, hosts: [{ host: '127.0.0.1', port }], sslmode: 'disable' }
  store = await openTestStore(address, { collections: collectionsUnderTest, stopping: stopping.signal })
  store.subscribe((change) => heard.push(change))
})
afterEach(async () => {
  await store.close()
  proxy.close()
  await once(proxy, 'close')
  await dropSchema(direct)
})

const batches = () => inSession(direct, (session) => session.query('select upto from souk_changes order by upto'))

describe.skipIf(!hasPostgres())('a connection that is cut', () => {
  test.each(['before the commit', 'after the commit'] as const)('%s leaves the writes there once', async (cut) => {
    next = cut
    await Promise.all([seed(store, [account('a')]), seed(store, [account('b', { email: 'x' })])])
    expect(cuts).toBe(1)
    await store.tx((t) => t.table(accounts).increment('a', 'sales', 1))
    expect((await store.table(accounts).getMany(['a', 'b'])).map(({ sales, version }) => [sales, version])).toEqual([
      [1, 2],
      [0, 1],
    ])
    expect(heard.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(await batches()).toHaveLength(2)
    expect(store.stats()).toMatchObject({ seq: 3, records: 2 })
  })

  test('by the server while it commits, is committed when asked again', async () => {
    // The commit waits for this lock, so it is under way when its session ends.
    const HELD = 4711
    await inSession(direct, async (session) => {
      await session.script(
        `create function ${direct.schema}.wait() returns trigger language plpgsql as $$ begin perform pg_advisory_lock_shared(${HELD}); return null; end $$;
        create constraint trigger waits after insert on accounts deferrable initially deferred for each row execute function wait();
        select pg_advisory_lock(${HELD})`,
      )
      const writing = seed(store, [account('a')])
      const waiting = `select pid from pg_stat_activity where wait_event = 'advisory' and application_name like 'souk %'`
      for (let found = 0; found === 0; ) found = (await session.query(waiting)).length
      await session.script(`select pg_terminate_backend(pid) from (${waiting}) w; select pg_advisory_unlock(${HELD})`)
      await writing
    })
    expect(await store.table(accounts).get('a')).toMatchObject({ version: 1 })
    expect(heard.map(({ seq }) => seq)).toEqual([1])
    expect(await batches()).toHaveLength(1)
  })

  test('and does not come back does not hold up the end of a daemon', async () => {
    next = 'before the commit'
    isAwayThen = true
    const writing = expect(seed(store, [account('a')])).rejects.toMatchObject({ code: 'unavailable' })
    await expect.poll(() => cuts).toBe(1)
    stopping.abort()
    await writing
    expect(await batches()).toHaveLength(0)
  })

  test('while bodies run makes them run again', async () => {
    let runs = 0
    await seed(store, [account('a')])
    await store.tx(async (t) => {
      runs += 1
      await t.table(accounts).increment('a', 'sales', 1)
      if (runs > 1) return
      await inSession(direct, (session) =>
        session.script(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'souk %'`),
      )
    })
    expect(runs).toBe(2)
    expect(await store.table(accounts).get('a')).toMatchObject({ sales: 1, version: 2 })
  })
})
