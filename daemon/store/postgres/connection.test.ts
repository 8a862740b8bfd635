import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPostgres, startPostgres, type TestServer, testServer, UNSAFE } from '../../../fixtures/kit/postgres.ts'
import type { PgAddress, PgHost } from './address.ts'
import { connectPrimary } from './connection.ts'

let primary: PgAddress
let server: TestServer
let standby: PgHost

beforeAll(async () => {
  primary = (await testServer()).addressOf('public')
  server = await startPostgres(UNSAFE, { isStandby: true })
  standby = { host: server.folder, port: 5432 }
})
afterAll(() => server.stop())

const dead: PgHost = { host: '127.0.0.1', port: 1 }

describe.skipIf(!hasPostgres())('of several hosts', () => {
  test('the one that is not a standby is used', async () => {
    const connection = await connectPrimary({ ...primary, hosts: [dead, standby, ...primary.hosts] }, 'test')
    expect(connection.host).toEqual(primary.hosts[0])
    await connection.end()
  })

  test('none is used where all are standbys or dead', async () => {
    const alone = { ...primary, hosts: [dead, standby] }
    await expect(connectPrimary(alone, 'test')).rejects.toThrow(
      `127.0.0.1:1: no server listens there; ${server.folder}:5432: it is a standby`,
    )
  })
})

describe.skipIf(!hasPostgres())('a session', () => {
  test('sends its statements in order without waiting, and knows when the server rolled back', async () => {
    const connection = await connectPrimary(primary, 'test')
    await connection.script('begin')
    const all = await Promise.allSettled([
      connection.query('select 1 as n'),
      connection.query('select 1 / $1::int4 as n', [0]),
      connection.query('select 2 as n'),
      connection.commit(),
    ])
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(all.at(-1)).toMatchObject({ reason: { message: 'the database rolled the transaction back' } })
    expect(await connection.query('select 3 as n')).toEqual([{ n: 3 }])
    await connection.end()
  })

  test('refuses every call once it is cut, also those that were under way', async () => {
    const connection = await connectPrimary(primary, 'test')
    const [me] = await connection.query('select pg_backend_pid() as pid')
    const other = await connectPrimary(primary, 'test')
    const sleeping = connection.query('select pg_sleep(600)')
    await Promise.all([
      expect(sleeping).rejects.toThrow(/terminat|cut/),
      other.query('select pg_terminate_backend($1::int4)', [Number(me?.pid)]),
    ])
    await expect.poll(() => connection.isCut()).toBe(true)
    await expect(connection.query('select 1')).rejects.toThrow('was cut')
    await other.end()
    await connection.end()
  })
})
