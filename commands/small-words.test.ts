import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunOptions } from '../fixtures/kit/command-line.testkit.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'

// @slow real daemons

/* Flags that say the same in fewer words, and what they promise. */

let user: User
let up: { url: string; clock: { now: string; state: string } }
beforeAll(async () => {
  user = await openUser()
  up = await user.json('up', '--port', '0', '--seed', 'house', '--clock', 'frozen', '--tick', '100ms')
  for (const name of ['buyer', 'seller']) await user.register(name, '20.00')
})
afterAll(() => user?.close())

const json = (...words: string[]) => user.json(...words)
const env = (more: Record<string, string> = {}) => ({
  HOME: user.home,
  TMPDIR: user.home,
  PATH: process.env.PATH ?? '',
  ...more,
})
const souk = (options: RunOptions, ...words: string[]) =>
  user.soukWith({ ...options, env: env(options.env as Record<string, string>) }, ...words)
const read = (file: string) => readFileSync(join(user.home, '.local/state/souk/default', file), 'utf8')

describe('time', () => {
  test('stands still from the start where that is said, and goes on when it is', async () => {
    expect(up.clock.state).toBe('frozen')
    expect((await json('clock', 'show')).now).toBe(up.clock.now)
    expect((await json('up', '--clock', 'real')).clock.state).toBe('running')
    expect((await json('up', '--clock', 'frozen')).clock.state).toBe('frozen')
    expect((await json('up')).clock).toBeNull()
    const odd = await user.souk('up', '--clock', 'yesterday')
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('is not a time')])
    expect((await user.souk('up', '--clock', 'frozen', '--systemd')).code).toBe(2)
  })

  test('is looked at as often as was said, also after a restart', async () => {
    expect(JSON.parse(read('launch.json')).tick).toBe('100ms')
    for (const tick of ['5ms', '2h', 'often']) {
      const { code, err } = await user.souk('up', '--tick', tick)
      expect([code, err]).toEqual([2, expect.stringContaining('100ms to 1m')])
    }
  })

  test('advances until the next cron, or until one by its name', async () => {
    const { next_cron: next } = await json('clock', 'show')
    const moved = await json('clock', 'advance', '--until', 'next-cron')
    expect(moved.now >= next.at).toBe(true)
    expect(moved.runs.map(({ name }: { name: string }) => name)).toContain(next.name)
    const { crons } = await json('crons', 'list')
    const { name, next_run: due } = crons.find((one: { name: string }) => one.name === 'reputation')
    const there = await json('clock', 'advance', '--until', name)
    expect(there.now >= due).toBe(true)
    // The ages of crons are of the clock that was moved.
    expect((await user.souk('health', '--section', 'crons')).out).toMatch(/^reputation +\d+s ago/m)
    for (const words of [[], ['1h', '--until', 'next-cron']]) {
      expect((await user.souk('clock', 'advance', ...words)).code).toBe(2)
    }
    const unknown = await user.souk('clock', 'advance', '--until', 'reputatoin')
    expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining('did you mean reputation?')])
  })

  test('moves to where a cron is to run, and not for a cron that there is not', async () => {
    const { now } = await json('clock', 'show')
    const at = new Date(Date.parse(now) + 3_600_000).toISOString()
    expect((await user.souk('crons', 'run', 'nothing', '--at', at)).code).toBe(3)
    expect((await json('clock', 'show')).now).toBe(now)
    expect((await json('crons', 'run', 'auto-refund', '--at', at)).name).toBe('auto-refund')
    expect((await json('clock', 'show')).now >= at).toBe(true)
    expect((await user.souk('crons', 'run', 'auto-refund', '--at', now)).code).not.toBe(0)
  })
})

test('any member of the own profile is set by its name', async () => {
  const edited = await json('account', 'edit', '--as', 'seller', '--set', 'capabilities=["ink","oil"]')
  expect(edited.capabilities).toEqual(['ink', 'oil'])
  const odd = await user.souk('account', 'edit', '--as', 'seller', '--set', 'capabilitys=[]')
  expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('capabilitys')])
})

describe('conversations', () => {
  let service: string
  const unread = async (as: string) =>
    (await json('threads', 'list', '--unread', '--as', as)).threads.map((one: { thread_id: string }) => one.thread_id)
  beforeAll(async () => {
    const listing = ['name=Portrait', 'description=Drawn', 'pricing_model=quote_required', 'fulfillment_type=human']
    const schema = 'input_schema={"type":"object","properties":{"subject":{"type":"string"}},"required":["subject"]}'
    const set = [...listing, schema].flatMap((one) => ['--set', one])
    service = (await json('services', 'create', ...set, '--as', 'seller')).id
  })

  test('are unread until they are looked at, and what one says oneself is no news', async () => {
    const { thread_id: thread } = await json('services', 'inquire', service, '-i', 'subject=cat', '--as', 'buyer')
    expect(await unread('buyer')).toEqual([])
    expect(await unread('seller')).toEqual([thread])
    await json('threads', 'view', thread, '--as', 'seller')
    expect(await unread('seller')).toEqual([])
    await json('threads', 'send', thread, 'Which cat?', '--as', 'seller')
    expect(await unread('seller')).toEqual([])
    expect(await unread('buyer')).toEqual([thread])
    expect((await json('threads', 'list', '--unread', '--page', '2', '--as', 'buyer')).threads).toEqual([])
  })

  test('are begun by questions, and nothing is paid after a no', async () => {
    const inquire = async (says: string) => {
      const asked: string[] = []
      const answer = (question: string) => {
        asked.push(question)
        return question.startsWith('subject') ? 'a dog' : says
      }
      const words = ['services', 'inquire', service, '--interactive', '--as', 'buyer']
      return { ...(await souk({ columns: 100, rows: 30, answer }, ...words)), asked }
    }
    const no = await inquire('n')
    expect([no.code, no.out]).toEqual([13, ''])
    const yes = await inquire('y')
    expect([yes.code, yes.out]).toEqual([0, expect.stringContaining('asked about')])
    expect(yes.asked[0]).toMatch(/^subject\* /)
    expect(yes.asked.at(-1)).toMatch(/^Pay \$0\.001 to 0x/)
    for (const words of [[], ['--interactive', '-m', 'x']]) {
      expect((await user.souk('services', 'inquire', service, ...words)).code).toBe(2)
    }
  })
})

test('an advertised path is bought by questions, where nobody knows its schema', async () => {
  await json('admin', 'named-services', 'set', 'site-audit', '--from', 'qr_code', '--price', '5.00')
  const given = ['data hello', 'data=hello', '']
  const answer = (question: string) => (question.startsWith('name=value') ? (given.shift() ?? '') : 'y')
  const words = ['services', 'advertised', 'site-audit', '--interactive', '--as', 'buyer', '--max-price', '6']
  const { code, out, err } = await souk({ columns: 100, rows: 30, answer }, ...words)
  expect([code, out, err]).toEqual([
    0,
    expect.stringContaining('for site-audit'),
    expect.stringContaining('data = "hello"'),
  ])
  expect(err).toContain('must be name=value')
  expect((await user.souk(...words)).code).toBe(2)
})

test('the key of an account that was made elsewhere comes by stdin, for a wallet', async () => {
  const near = await openUser()
  try {
    const key = 'sk_'.padEnd(43, '0')
    const add = ['remote', 'add', 'shop', up.url, '--key-stdin']
    const nobody = await near.soukWith({ stdin: key }, ...add)
    expect([nobody.code, nobody.err]).toEqual([2, expect.stringContaining('souk wallet new')])
    await near.json('wallet', 'new', 'me')
    expect((await near.soukWith({ stdin: key }, ...add, '--admin-key-stdin')).code).toBe(2)
    expect((await near.soukWith({ stdin: key }, ...add)).code).toBe(0)
    expect(readFileSync(join(near.home, '.config/souk/secrets.json'), 'utf8')).toContain(key)
    // It is sent, and not taken: nobody has it.
    expect((await near.souk('balance', '-r', 'shop')).code).toBe(4)
  } finally {
    await near.close()
  }
})

describe('SOUK_OUTPUT', () => {
  const withOutput = (output: string, ...words: string[]) => souk({ env: { SOUK_OUTPUT: output } }, ...words)
  // A second remote: a list of two rows tells the forms apart.
  beforeAll(() => json('remote', 'add', 'two', up.url))

  test.each([
    ['json', /^\{"total":/],
    ['ndjson', /^\{"name":.*\n\{"name":/],
    ['tsv', /^local\t/],
    ['human', /^local\t/], // a pipe
  ])('%s is the form where no flag says one', async (output, form) => {
    expect((await withOutput(output, 'remote', 'list')).out).toMatch(form)
  })

  test('gives way to flags, and holds for errors', async () => {
    expect((await withOutput('json', 'remote', 'list', '--tsv')).out).toMatch(/^local\t/)
    expect((await withOutput('tsv', 'remote', 'list', '--jq', '.total')).out).toBe('2\n')
    const { code, out, err } = await withOutput('json', 'remote', 'lsit')
    expect([code, out, JSON.parse(err).error.code]).toEqual([2, '', 'usage'])
  })

  test('says nothing about what has a form of its own', async () => {
    const { out } = await souk({}, 'completion', 'bash')
    expect((await withOutput('json', 'completion', 'bash')).out).toBe(out)
  })

  test('that is none is told', async () => {
    const { code, err } = await withOutput('xml', 'remote', 'list')
    expect([code, err]).toEqual([2, expect.stringContaining('SOUK_OUTPUT must be one of human, json, ndjson, tsv')])
  })
})

describe('on a terminal', () => {
  const shown = async (...words: string[]) => (await souk({ columns: 100 }, ...words)).out
  // biome-ignore lint/suspicious/noControlCharactersInRegex: anything but ASCII is what is looked for
  const BEYOND = /[^\u0000-\u007F]/

  test('--ascii shows signs of ASCII, and --palette other colors', async () => {
    expect(await shown('status')).toMatch(BEYOND)
    expect(await shown('status', '--ascii')).not.toMatch(BEYOND)
    expect(await shown('status')).toContain('\u001B[32m')
    const blind = await shown('status', '--palette', 'cb')
    expect(blind).toContain('\u001B[94m')
    for (const color of ['31', '32']) expect(blind).not.toContain(`\u001B[${color}m`)
    const plain = await shown('status', '--palette', 'mono')
    expect(plain.split('\u001B[').filter((part) => /^(3|9)\d/.test(part))).toEqual([])
    // It may be up a second longer by now.
    const timeless = (text: string) => text.replace(/up \d+s/, '')
    const { out } = await souk({ columns: 100, env: { SOUK_PALETTE: 'cb' } }, 'status')
    expect(timeless(out)).toBe(timeless(blind))
    const { code, err } = await souk({ env: { SOUK_PALETTE: 'pink' } }, 'status')
    expect([code, err]).toEqual([2, expect.stringContaining('default, cb, mono')])
  })

  test('data for programs, and for files, is never rewritten', async () => {
    const named = ['account', 'edit', '--as', 'seller', '--name', 'Café ● Žižek', '--ascii']
    expect((await souk({}, ...named, '--json')).out).toContain('Café ● Žižek')
    expect((await souk({ columns: 100 }, ...named, '-q', '.name')).out).toContain('Café ● Žižek')
    expect((await souk({ columns: 100 }, ...named)).out).not.toMatch(BEYOND)
  })
})
