import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { openUser, type User } from '../../fixtures/kit/user.ts'

// @slow real daemons

const SECRET = 'correct-horse'
let user: User

describe.skipIf(!hasPostgres())('souk up with SOUK_STORE', () => {
  beforeAll(async () => {
    const { folder } = await testServer()
    const SOUK_STORE = `postgres://souk:${SECRET}@/postgres?host=${folder}&schema=cli${process.pid}`
    user = await openUser({ SOUK_NO_INPUT: '1', SOUK_STORE })
  })
  afterAll(() => user?.close())

  test('starts over the database, again over the same, and tells nobody the password', async () => {
    const first = await user.souk('up', '--port', '0', '--seed', 'none')
    expect(first).toMatchObject({ code: 0 })
    expect(first.err).toMatch(/! PostgreSQL \d+\.\d+ at /)
    await user.souk('down')
    const stopped = await user.souk('doctor')
    expect(stopped.out).toContain('in a PostgreSQL database')
    const again = await user.souk('up', '--port', '0')
    expect(again).toMatchObject({ code: 0 })
    const shown = [first, stopped, again, await user.souk('status'), await user.souk('logs')]
    for (const { out, err } of shown) expect(out + err).not.toContain(SECRET)
    await user.souk('down')
  })
})
