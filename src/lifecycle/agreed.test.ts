import { readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openUser, type User } from '../../fixtures/kit/user.ts'

// @slow starts that meet one another

/* What is asked of a start that a daemon or its data have otherwise: refused in one sentence, never passed over. */

let user: User
let port: number
beforeAll(async () => {
  user = await openUser()
  port = await freePort()
  await user.json('up', '--port', String(port), '--seed', 'none')
})
afterAll(() => user.close())

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('over a daemon that runs', () => {
  test.each([
    ['--seed', 'demo', 'souk seed demo'],
    ['--seed', 'house', 'souk up --instance house --port 0 --seed house'],
    ['--chain', 'devnet', 'souk down'],
    ['--port', '1', 'souk restart --port=1'],
    ['--log-level', 'debug', 'souk restart --log-level=debug'],
    ['--public-url', 'https://souk.example.org', 'souk restart --public-url=https://souk.example.org'],
  ])('another %s %s is refused, with the way out', async (flag, value, next) => {
    const { code, err } = await user.souk('up', flag, value, '--json')
    expect([code, JSON.parse(err).error]).toEqual([6, expect.objectContaining({ code: 'conflict', hint: next })])
  })

  test('a seed that does not exist is offered to no other instance: the ones there are, are named', async () => {
    const { code, err } = await user.souk('up', '--seed', 'hous', '--json')
    expect([code, JSON.parse(err).error]).toEqual([
      2,
      expect.objectContaining({
        message: 'There is no seed "hous" (did you mean house?).',
        facts: ['choose one of demo, house, none, or a file such as market.yaml'],
        hint: null,
      }),
    ])
  })

  test('the same is none to refuse', async () => {
    const again = await user.json('up', '--port', String(port), '--seed', 'none', '--chain', 'sandbox', '--crons', 'on')
    expect(again).toMatchObject({ already_running: true })
  })
})

test('the port that was named is kept for the next start, and a setting comes before it', async () => {
  await user.json('down')
  expect((await user.json('up')).url).toContain(`:${port}`)
  await user.json('down')
  const other = String(await freePort())
  await user.json('config', 'set', 'port', other)
  expect((await user.json('up')).url).toContain(`:${other}`)
  await user.json('config', 'unset', 'port')
  await user.json('down')
})

test('a seed fills data that have no listing, and data that began with another one refuse it', async () => {
  const refusal = async (seed: string) => {
    const { code, err } = await user.souk('up', '--seed', seed, '--json')
    // A slow machine says before that it still waits.
    return [code, JSON.parse(err.trim().split('\n').at(-1) ?? '').error.message]
  }
  await user.json('up', '--seed', 'house')
  await user.json('down')
  expect(await refusal('none')).toEqual([6, expect.stringContaining('was created with --seed house')])
  // The demo comes before all that people did.
  await writeFile(join(user.home, 'people.yaml'), 'people:\n  - { name: kim }\n')
  await user.json('up')
  await user.souk('seed', '--file', join(user.home, 'people.yaml'))
  await user.json('down')
  expect(await refusal('demo')).toEqual([6, expect.stringContaining('already has data')])
  expect(await refusal('mystery')).toEqual([2, 'There is no seed "mystery".'])
})

describe('a seed file', () => {
  test('that is wrong starts nothing, in words that name the field', async () => {
    const file = join(user.home, 'wrong.yaml')
    await writeFile(file, 'people:\n  - { title: Ann }\nservice: []\n')
    const { code, err } = await user.souk('up', '--seed', file, '--instance', 'filed', '--port', '0', '--json')
    expect(code).toBe(2)
    expect(JSON.parse(err).error.facts).toEqual(
      expect.arrayContaining(['people.0.name: required', 'service: unknown field (did you mean services?)']),
    )
    expect(await user.json('status', '--instance', 'filed')).toMatchObject({ state: 'stopped' })
  })

  test('fills a new marketplace, and is refused over one that is there', async () => {
    const file = join(user.home, 'market.yaml')
    await writeFile(file, 'people:\n  - { name: fay, type: both }\n')
    const words = ['up', '--seed', file, '--instance', 'filed', '--port', '0'] as const
    expect(await user.json(...words)).toMatchObject({ state: 'running', seed: file })
    expect((await user.json('wallet', 'list')).wallets.map(({ name }: { name: string }) => name)).toContain('fay')
    expect((await user.souk(...words)).code).toBe(6)
  })
})

test('a restart where nothing ran does not say "again"', async () => {
  await user.json('down')
  const { out } = await user.souk('restart')
  expect(out).toMatch(/is up {3}/)
  expect(out).not.toContain('again')
})

describe('a folder that cannot be used', () => {
  const within = (folders: Record<string, string>, ...words: string[]) =>
    user.soukWith({ env: { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home, ...folders } }, ...words)

  // No rights of root make a folder there.
  test.skipIf(process.platform !== 'linux').each([
    ['XDG_DATA_HOME', 'up --port 0 --instance unwritten'],
    ['XDG_STATE_HOME', 'up --port 0 --instance unwritten'],
    ['XDG_CONFIG_HOME', 'wallet new unwritten'],
  ])('%s that takes nothing is told in a sentence of souk %s, and nothing hangs', async (name, line) => {
    for (const folder of ['/proc/nope', '/sys/nope']) {
      const { code, err } = await within({ [name]: folder }, ...line.split(' '))
      expect([code, err]).toEqual([1, expect.stringMatching(/cannot be created|is read-only|No permission/)])
      expect(err).toContain(name)
      expect(err).not.toMatch(/E[A-Z]{4,}|not expected/)
    }
  })

  test('because a file stands there is named, with the way out', async () => {
    const blocked = join(user.home, 'blocked')
    await writeFile(blocked, '')
    const { code, err } = await within({ XDG_STATE_HOME: blocked }, 'up', '--port', '0')
    expect([code, err]).toEqual([1, expect.stringMatching(/is a file where a folder is needed/)])
    expect(err).toContain('XDG_STATE_HOME')
    expect(err).not.toMatch(/ENOTDIR|EEXIST|not expected/)
  })
})

test('a store that was cut says so on the stderr of up', async () => {
  await user.json('up')
  await user.json('wallet', 'new', 'cut')
  await user.json('wallet', 'fund', 'cut')
  await user.json('down')
  const store = join(user.home, '.local/share/souk/default/store')
  const journal =
    (await readdir(store))
      .filter((name) => name.startsWith('journal'))
      .sort()
      .at(-1) ?? ''
  const path = join(store, journal)
  await truncate(path, (await stat(path)).size - 3)
  const { code, err } = await user.souk('up')
  expect([code, err]).toEqual([0, expect.stringMatching(/^! .*journal/m)])
})
