import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPostgres, startPostgres, type TestServer, UNSAFE } from '../../../fixtures/kit/postgres.ts'
import { collectionsUnderTest } from '../conformance/world.testkit.ts'
import { parsePgAddress } from './address.ts'
import { checkServer } from './connection.ts'
import { addressOfStore, refusalOf } from './refusal.ts'
import { inSession, openTestStore } from './store.testkit.ts'

const SECRET = 'correct-horse'
let server: TestServer

beforeAll(async () => {
  if (!hasPostgres()) return
  server = await startPostgres(UNSAFE)
  await inSession(server.addressOf('public'), async (session) => {
    for (const statement of [
      `create role ann login password '${SECRET}'`,
      'create role bob login',
      `create database ascii encoding 'SQL_ASCII' template template0`,
    ])
      await session.script(statement)
    const rules = ['local all ann scram-sha-256', 'local all bob reject', 'local all all trust']
    writeFileSync(join(server.data, 'pg_hba.conf'), `${rules.join('\n')}\n`)
    await session.query('select pg_reload_conf()')
  })
})
afterAll(() => server?.stop())

/** What somebody reads who starts over that address. */
async function refused(text: string): Promise<unknown> {
  const address = parsePgAddress(text)
  return openTestStore(address, { collections: collectionsUnderTest }).then(
    () => undefined,
    (error: unknown) => refusalOf(error, address),
  )
}

describe.skipIf(!hasPostgres())('a server', () => {
  const at = (login: string, database: string) => `postgres://${login}@/${database}?host=${server.folder}`

  test.each([
    ['a wrong password', () => at('ann:wrong-horse', 'postgres'), 'The password of ann is wrong', '\\password ann'],
    ['a user that may not come in', () => at('bob', 'postgres'), 'does not let bob in', 'createuser --pwprompt bob'],
    ['an unknown user', () => at('cat', 'postgres'), 'role "cat" does not exist', 'createuser --pwprompt cat'],
    ['an unknown database', () => at('souk', 'shop'), 'no such database', 'createdb --owner souk shop'],
    ['a user without rights', () => at(`ann:${SECRET}`, 'postgres'), 'may not create', 'grant create on database'],
    ['another encoding', () => at('souk', 'ascii'), 'SQL_ASCII, not UTF8', 'createdb --encoding UTF8'],
  ])('refuses %s with the way out, without the password', async (_, address, ...words) => {
    const error = await refused(address())
    expect(error).toMatchObject({ code: 'invalid_request' })
    for (const word of words) expect(String(error)).toContain(word)
    expect(String(error)).not.toMatch(/(correct|wrong)-horse/)
  })
})

test('a server that is away, a host that is unknown and a standby are told apart', async () => {
  const absent = await refused('postgres://ann:x@127.0.0.1:1/shop')
  expect(absent).toMatchObject({ code: 'unavailable' })
  expect(String(absent)).toContain('apt-get install postgresql')
  expect(String(await refused('postgres://ann:x@nowhere.invalid/shop'))).toMatch(/host name/)
})

test('an old server is refused by its version', () => {
  expect(() => checkServer({ standby: false, version: 130_011, encoding: 'UTF8' })).toThrow('it is PostgreSQL 13')
  expect(() => checkServer({ standby: false, version: 140_000, encoding: 'UTF8' })).not.toThrow()
})

test('an address of another form is refused by the names of its settings', () => {
  expect(() => addressOfStore(`mysql://ann:${SECRET}@one`)).toThrow('--store or SOUK_STORE is invalid')
  expect(() => addressOfStore(`mysql://ann:${SECRET}@one`)).not.toThrow(SECRET)
})
