import { afterEach, describe, expect, test } from 'vitest'
import { type Fleet, openFleet, until } from '../../fixtures/kit/fleet.ts'
import { hasPostgres, startPostgres, type TestServer, UNSAFE } from '../../fixtures/kit/postgres.ts'
import { expectAll, jobsOf, openBuyers } from '../../fixtures/market/steady-buyers.ts'

// @deep a database that dies twice under three daemons and many buyers, and one that is known to lose

const COUNT = 3
const BUYERS = Number(process.env.SOUK_TEST_BUYERS ?? 16)
/** Purchases between two kills, by all buyers. */
const BETWEEN = Number(process.env.SOUK_TEST_BETWEEN ?? 100)
const KILLS = Number(process.env.SOUK_TEST_KILLS ?? 6)
const FAILOVERS = 2

const servers: TestServer[] = []
let fleet: Fleet | undefined

afterEach(async () => {
  await fleet?.close()
  for (const server of servers.splice(0)) await server.stop()
})

const storeOf = (one: TestServer, other: TestServer) =>
  `postgres://souk@/postgres?host=${one.folder},${other.folder}&schema=souk`

async function standbyOf(primary: TestServer, folder?: string): Promise<TestServer> {
  const standby = await startPostgres(UNSAFE, { copyOf: primary.folder, ...(folder === undefined ? {} : { folder }) })
  await until(async () => (await primary.sql('select count(*) from pg_stat_replication')) === '1')
  return standby
}

/** Makes each commit wait for the standby. */
async function keepInStep(primary: TestServer): Promise<void> {
  await primary.sql("alter system set synchronous_standby_names = '*'", 'select pg_reload_conf()')
  await until(
    async () => (await primary.sql("select count(*) from pg_stat_replication where sync_state = 'sync'")) === '1',
  )
}

describe.skipIf(!hasPostgres())('a database that fails over', () => {
  test('with a synchronous standby loses and doubles nothing, while daemons are killed, too', async () => {
    let primary = await startPostgres(UNSAFE)
    let standby = await standbyOf(primary)
    servers.push(primary, standby)
    await keepInStep(primary)
    fleet = await openFleet(storeOf(primary, standby), COUNT)
    const buyers = await openBuyers(fleet.calls(), BUYERS)
    for (let failover = 0; failover < FAILOVERS; failover += 1) {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await buyers.more(BETWEEN)
        const victim = kill % 2 === 0 ? await fleet.leader() : kill % COUNT
        await fleet.kill(victim)
        await buyers.more(BETWEEN)
        await fleet.start(victim)
      }
      await primary.kill()
      // It has the setting of its primary, and no standby of its own.
      await standby
        .sql("alter system set synchronous_standby_names = ''", 'select pg_reload_conf()')
        .catch(() => undefined)
      await standby.promote()
      await standby.sql("alter system set synchronous_standby_names = ''", 'select pg_reload_conf()')
      await buyers.more(BETWEEN)
      const dead = primary
      primary = standby
      standby = await standbyOf(primary, dead.folder)
      servers.push(standby)
      await keepInStep(primary)
    }
    await buyers.more(BETWEEN)
    await buyers.end()
    await expectAll(fleet, buyers.jobs)
  })

  test('with an asynchronous standby that was cut off loses what was answered since, and is seen to', async () => {
    const primary = await startPostgres(UNSAFE)
    const standby = await standbyOf(primary)
    servers.push(primary, standby)
    fleet = await openFleet(storeOf(primary, standby), 1)
    const buyers = await openBuyers(fleet.calls(), BUYERS)
    await buyers.more(BETWEEN)
    await standby.sql("alter system set primary_conninfo = ''", 'select pg_reload_conf()')
    await until(async () => (await primary.sql('select count(*) from pg_stat_replication')) === '0')
    await buyers.more(BETWEEN)
    await buyers.end()
    await fleet.kill(0)
    await primary.kill()
    await standby.promote()
    await fleet.start(0)
    const found = new Set(await jobsOf(fleet))
    const lost = buyers.jobs.filter((id) => !found.has(id))
    expect(lost.length).toBeGreaterThanOrEqual(BETWEEN)
    expect(lost.length).toBeLessThan(buyers.jobs.length)
  })
})
