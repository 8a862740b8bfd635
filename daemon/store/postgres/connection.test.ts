import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
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

/** A process that connects once, and says how that ends: there the driver is loaded between the socket and its use. */
const CONNECTS = (address: PgAddress) => `
  const { connectPrimary } = await import(${JSON.stringify(new URL('connection.ts', import.meta.url).href)})
  await connectPrimary(${JSON.stringify(address)}, 'test').catch((error) => console.log(error.message))
  process.exit()`

test('a server that dies once it was reached is one that does not answer, and ends no process', async () => {
  const dying = createServer((socket) => setTimeout(() => socket.resetAndDestroy(), 5)).listen(0, '127.0.0.1')
  await once(dying, 'listening')
  const { port } = dying.address() as { port: number }
  const address: PgAddress = { ...primary, hosts: [{ host: '127.0.0.1', port }], sslmode: 'disable' }
  const words = ['--input-type=module', '--eval', CONNECTS(address)]
  expect((await promisify(execFile)(process.execPath, words)).stdout).toContain(`127.0.0.1:${port}: `)
  dying.close()
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
