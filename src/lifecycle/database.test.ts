import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { openUser, type User } from '../../fixtures/kit/user.ts'

// @slow real daemons

const SECRET = 'correct-horse'
let schemas = 0

async function freshStore(): Promise<string> {
  const { folder } = await testServer()
  schemas += 1
  return `postgres://souk:${SECRET}@/postgres?host=${folder}&schema=cli${process.pid}_${schemas}`
}

describe.skipIf(!hasPostgres())('souk up over a database', () => {
  let user: User
  beforeAll(async () => {
    user = await openUser({ SOUK_NO_INPUT: '1' })
  })
  afterAll(() => user?.close())

  test('starts by --store, and again without it, and tells nobody the password', async () => {
    const store = await freshStore()
    const first = await user.souk('up', '--port', '0', '--seed', 'none', '--store', store)
    expect(first).toMatchObject({ code: 0 })
    expect(first.err).toMatch(/! PostgreSQL \d+\.\d+ at /)
    const { pid } = await user.json('status')
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(SECRET)
    const agreed = await user.souk('up', '--store', store)
    expect(agreed).toMatchObject({ code: 0 })
    const other = await user.souk('up', '--store', await freshStore())
    expect(other).toMatchObject({ code: 6 })
    expect(other.err).toContain('different --store')
    const restarted = await user.souk('restart')
    expect(restarted).toMatchObject({ code: 0 })
    const running = await user.souk('doctor')
    expect(running.out).toMatch(/store\s.*PostgreSQL \d/)
    await user.souk('down')
    const stopped = await user.souk('doctor')
    expect(stopped.out).toContain('in a PostgreSQL database')
    const again = await user.souk('up')
    expect(again).toMatchObject({ code: 0 })
    const shown = [first, agreed, other, restarted, running, stopped, again, await user.souk('status', '--json')]
    for (const { out, err } of [...shown, await user.souk('logs')]) expect(out + err).not.toContain(SECRET)
    await user.souk('down')
  })

  test('starts by SOUK_STORE', async () => {
    const env = { SOUK_NO_INPUT: '1', SOUK_STORE: await freshStore() }
    const other = await openUser(env)
    expect(await other.souk('up', '--port', '0', '--seed', 'none')).toMatchObject({ code: 0 })
    expect((await other.json('status')).store.note).toMatch(/^PostgreSQL/)
    await other.close()
  })

  test.each([
    ['another form', 2, ['--store', `mysql://ann:${SECRET}@one`], '--store or SOUK_STORE is invalid'],
    ['no server', 7, ['--store', `postgres://ann:${SECRET}@127.0.0.1:1/shop`], 'apt-get install postgresql'],
    ['--ephemeral', 2, ['--ephemeral', '--store', `postgres://ann:${SECRET}@one/shop`], 'omit one of them'],
    ['--seed demo', 2, ['--seed', 'demo', '--store', `postgres://ann:${SECRET}@one/shop`], 'use --seed house'],
  ])('refuses %s with a way out and exit code %i', async (name, code, ...[words, sentence]) => {
    const instance = `r${name.replace(/[^a-z]/g, '')}`
    const refused = await user.souk('up', '--instance', instance, '--port', '0', ...words)
    expect(refused).toMatchObject({ code })
    expect(refused.err).toContain(sentence)
    expect(refused.out + refused.err).not.toContain(SECRET)
  })

  test('with --spare waits for the daemon that has it, and refuses another admin key', async () => {
    const store = await freshStore()
    const [front, back] = ['front', 'back'].map((name) => ['--instance', name])
    const up = ['up', '--port', '0', '--seed', 'none', '--store', store]
    expect(await user.souk(...up, ...(front ?? []))).toMatchObject({ code: 0 })
    const refused = await user.souk(...up, '--spare', ...(back ?? []))
    expect(refused).toMatchObject({ code: 6 })
    expect(refused.err).toContain('copy admin.key of the other data folder to ')
    const [own, its] = await Promise.all([front, back].map((words) => user.json('status', ...(words ?? []))))
    const [, to = ''] = /data folder to (\S+admin\.key)/.exec(refused.err) ?? []
    copyFileSync(join(own.data_dir, 'admin.key'), to.replace(/^~/, user.home))
    expect(its.state).toBe('stopped')
    const spare = await user.json(...up, '--spare', ...(back ?? []))
    expect(spare).toMatchObject({ state: 'front', waits_for: expect.stringMatching(/^pid \d+ on /) })
    expect((await user.json(...up, '--spare', ...(back ?? []))).state).toBe('front')
    const waiting = await user.souk('status', ...(back ?? []))
    expect(waiting.out).toMatch(/● front .*\n {2}a front; leader: pid \d+ on .+/)
    expect((await user.json('health', ...(back ?? []))).instance_id).toBe(
      (await user.json('health', ...(front ?? []))).instance_id,
    )
    expect((await user.souk('doctor', '--only', 'daemon', ...(back ?? []))).out).toContain('a front; leader: pid')
    expect((await user.souk('doctor', '--only', 'store', ...(front ?? []))).out).toContain(
      'this daemon leads, with 1 front.',
    )
    await user.souk('down', ...(front ?? []))
    await expect.poll(async () => (await user.json('status', ...(back ?? []))).state).toBe('running')
    expect((await user.json('down', ...(back ?? []))).instances[0].how).toBe('graceful')
    const alone = await user.souk('up', '--spare', '--instance', 'alone')
    expect(alone).toMatchObject({ code: 2 })
    expect(alone.err).toContain('add --store')
  })

  test('prints a systemd unit that takes the address from a private file', async () => {
    const { out } = await user.souk('up', '--systemd', '--store', await freshStore())
    expect(out).toMatch(/^EnvironmentFile=.*store\.env$/m)
    expect(out).not.toContain(SECRET)
  })
})
