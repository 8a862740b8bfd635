import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { splitWords } from '../cli/split-words.ts'
import type { KeyWish } from '../model/cockpit-files.ts'
import { type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { job, jobId, jobsOf } from './jobs/jobs.testkit.ts'
import { skinOf } from './parts/contrast.ts'
import { rebind } from './rebind.ts'
import type { ProgramEnd, ProgramRunner } from './shell/screen.ts'

// @slow every screen is saved in every form

/* What is seen is kept and handed on: rows and frames to files, rows to programs, keys and colors of one's own. */

let open: Opened | undefined
const saved = new Map<string, string>()
const ran: { readonly words: readonly string[]; readonly input: string }[] = []
let end: ProgramEnd | Promise<ProgramEnd> = { text: '', problem: '' }
let stops = 0
let isBusy = false

const programs: ProgramRunner = {
  isBusy: () => isBusy,
  stop() {
    stops += 1
    return isBusy && stops === 1
  },
  async run({ words, input }) {
    const read = await input(new AbortController().signal)
    ran.push({ words, input: read.ok ? read.value : read.problem.sentence })
    return end
  },
}

beforeEach(() => {
  saved.clear()
  ran.length = 0
  end = { text: '', problem: '' }
  stops = 0
  isBusy = false
})
afterEach(() => open?.close())

const many = Array.from({ length: 120 }, (_, i) =>
  job(
    i + 1,
    'completed',
    i === 0
      ? {
          service_name: '=cmd()"x',
          about: { service: '=cmd()"x', buyer: '<Bot&7>', provider: 'a╬b', amount: '0.5', method: 'x402' },
        }
      : {},
  ),
)
const commandLine = {
  commands: [],
  split: (line: string) => (line === '' ? [] : splitWords(line)),
  complete: async () => [],
  run: async () => ({ ok: true as const, value: '' }),
} as const

async function jobs(options: Partial<OpenOptions> = {}): Promise<Opened> {
  const save = (name: string, text: string) => {
    saved.set(name, text)
    return { ok: true, value: `/tmp/${name}` } as const
  }
  const link = market({ 'GET /dashboard/api/admin/jobs': jobsOf(many) })
  open = await openOn({ link, screen: 'jobs', columns: 100, rows: 30, save, programs, commandLine, ...options })
  open.host.ui.set({ ...open.host.ui.get(), jobView: 'all' })
  await open.advance(1_000)
  return open
}

describe('ctrl-s', () => {
  it('saves the rows of all pages as CSV with the shown columns, and never a formula', async () => {
    const { type, text, until, host } = await jobs()
    host.ui.set({ ...host.ui.get(), putAway: { jobs: ['BUYER'] } })
    await type('\u0013')
    for (const ending of ['csv', 'ndjson', 'txt', 'svg'])
      expect(text()).toMatch(new RegExp(`${ending} +souk-jobs-\\d+\\.${ending}`))
    await type('\r')
    await until(() => saved.size === 1)
    const [[name = '', csv = ''] = []] = saved
    expect(name).toMatch(/^souk-jobs-\d+\.csv$/)
    const lines = csv.trimEnd().split('\n')
    expect(lines).toHaveLength(121)
    expect(lines[0]).toMatch(/^"state","service",/)
    expect(lines[0]).not.toContain('buyer')
    expect(lines[1]).toMatch(/^"completed","'=cmd\(\)""x","a╬b","0.525","2026-11-/)
    expect(lines[120]).toContain(jobId(120))
    expect(text()).toContain('120 rows')
  })

  it('saves the rows of the filter as the records of the API', async () => {
    const { type, until, advance } = await jobs()
    await type(`/id:${jobId(7)}`)
    await type('\r')
    await advance(1_000)
    await type('\u0013seven.ndjson')
    await type('\r')
    await until(() => saved.has('seven.ndjson'))
    const lines = (saved.get('seven.ndjson') ?? '').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([many[6]])
  })

  it('saves the frame as a picture, whatever others call themselves', async () => {
    const { type, until } = await jobs()
    await type('\u0013frame.svg')
    await type('\r')
    await until(() => saved.has('frame.svg'))
    const svg = saved.get('frame.svg') ?? ''
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="824" height="564">/)
    expect(svg).toContain('a╬b')
    expect(svg).not.toContain('<Bot')
    expect(svg).not.toContain('Save this screen')
    expect(svg).toMatch(/>quit|> quit/)
  })

  it('offers no rows where there are none', async () => {
    const { type, text } = await jobs({ screen: 'overview' })
    open?.host.ui.set({ ...open.host.ui.get(), screen: 'overview' })
    await type('\u0013')
    expect(text()).not.toContain('.csv ')
    expect(text()).toMatch(/txt +souk-overview-/)
  })
})

describe(':!', () => {
  it('pipes all rows of the filter into a shell command, and shows what it prints', async () => {
    end = { text: 'alpha\n\u001B[2Jsecond', problem: 'exit code 3' }
    const { type, text, until } = await jobs()
    await type(':! jq -r .id | sort')
    await type('\r')
    await until(() => text().includes('exit code 3'))
    expect(ran[0]?.words).toEqual(['/bin/sh', '-c', 'exec 2>&1\njq -r .id | sort'])
    expect(ran[0]?.input.trimEnd().split('\n')).toHaveLength(120)
    expect(text()).toContain('alpha')
    await type('second')
    expect(text()).not.toContain('alpha')
    await type('\u0013')
    expect([...saved.values()][0]).toBe('alpha\n\uFFFD[2Jsecond\n✗ exit code 3\n')
  })

  it('runs nothing in a read-only cockpit', async () => {
    const { type, text } = await jobs({ readonly: true })
    await type(':!rm x')
    await type('\r')
    expect(text()).toContain('read-only: it runs no program')
    expect(ran).toEqual([])
  })

  it('ends with the first ctrl-c; the cockpit quits with the next', async () => {
    const { type, exited } = await jobs()
    isBusy = true
    await type('\u0003')
    expect([stops, exited()]).toEqual([1, false])
    await type(':!true')
    await type('\r')
    expect(open?.text()).toContain('A command is running')
    await type('\u0003')
    expect(exited()).toBe(true)
  })
})

const HARMLESS = /^[\w.:@+/-]*$/

const runbook = (value: unknown, line = 3): KeyWish => ({ act: 'ticket', keys: value, line })
const whole = {
  key: 'ctrl-t',
  on: ['jobs'],
  title: 'open a ticket',
  command: ['ticket', '--of={id}', '{about.buyer}', '{{x}}'],
}

describe('a runbook', () => {
  it('is in the help of its screens, asks with its exact words, and shows its output', async () => {
    const { keys, faults } = rebind([runbook(whole)])
    expect(faults).toEqual([])
    end = { text: 'ticket 7 is open', problem: '' }
    const { type, text, until } = await jobs({ keys, columns: 160 })
    expect(text()).toContain('^T open a ticket')
    await type('?')
    expect(text()).toMatch(/OWN +\^T +open a ticket/)
    await type('\u001B')
    await type('j')
    await type('\u0014')
    expect(text()).toContain(`$ ticket --of=${jobId(2)} Bot7 '{x}'`)
    expect(ran).toEqual([])
    await type('y')
    await until(() => text().includes('ticket 7 is open'))
    expect(ran.map(({ words }) => words.slice(4))).toEqual([['ticket', `--of=${jobId(2)}`, 'Bot7', '{x}']])
    await type('\u001B')
    await type('5')
    await type('\u0014')
    expect(text()).not.toContain('$ ticket')
  })

  it('is no key of a read-only cockpit', async () => {
    const { keys } = rebind([runbook(whole)])
    const { type, text } = await jobs({ keys, readonly: true })
    await type('\u0014')
    expect(text()).not.toContain('$ ticket')
  })

  it.each([
    ['an unknown member', { ...whole, keys: 'x' }, /unknown member "keys".*key/],
    ['no key', { ...whole, key: undefined }, /"key" of ticket must be a key/],
    ['a key that never arrives', { ...whole, key: 'ctrl-i' }, /"key" of ticket must be a key/],
    ['a key that is taken', { ...whole, key: 's' }, /s of ticket is sort \("next sort field"\) already/],
    ['an unknown screen', { ...whole, on: ['jobz'] }, /there is no screen "jobz".*jobs/],
    ['no list of screens', { ...whole, on: 'jobs' }, /"on" of ticket must be a list/],
    ['an endless title', { ...whole, title: 'x'.repeat(61) }, /"title" of ticket must be/],
    ['a shell line', { ...whole, command: 'ticket {id}' }, /"command" of ticket must be a list of words/],
    ['no program', { ...whole, command: [''] }, /"command" of ticket must be a list of words/],
    [
      'a program named by a value',
      { ...whole, command: ['{id}', 'x'] },
      /"command" of ticket must begin with a program/,
    ],
    ['a null character', { ...whole, command: ['a', 'b\0'] }, /"command" of ticket must be a list of words/],
  ])('with %s is reported with its line', (_, value, why) => {
    const { keys, faults } = rebind([runbook(value), { act: 'refresh', keys: 'F', line: 9 }])
    expect(faults).toEqual([{ line: 3, words: expect.stringMatching(why) }])
    expect(keys.some(({ action }) => action === 'run')).toBe(false)
    expect(keys.find(({ action }) => action === 'refresh')?.keys).toEqual(['F'])
  })

  it('never runs a value of the row as code, nor takes it as an option', async () => {
    const { keys } = rebind([
      { act: 'plain', keys: { key: 'ctrl-t', command: ['p', '{about.service}'] }, line: 1 },
      { act: 'after', keys: { key: 'ctrl-v', command: ['p', '--', '{about.service}'] }, line: 1 },
      { act: 'script', keys: { key: 'ctrl-y', command: ['sh', '-c', 'echo {about.service}'] }, line: 1 },
      { act: 'code', keys: { key: 'ctrl-o', command: ['sh', '-c', '{about.service}'] }, line: 1 },
      { act: 'far', keys: { key: 'ctrl-x', command: ['/bin/ssh', 'host', 'echo', '{about.service}'] }, line: 1 },
    ])
    const name = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.constantFrom('$(id)', '`id`', '; id', '-rf', "'; id #", 'a b', '--', 'Bot7'),
    )
    await fc.assert(
      fc.asyncProperty(name, async (service) => {
        ran.length = 0
        const one = job(1, 'completed', { about: { service, buyer: 'b', provider: 'p', amount: '1', method: 'x402' } })
        const link = market({ 'GET /dashboard/api/admin/jobs': jobsOf([one]) })
        open = await openOn({ link, screen: 'jobs', keys, programs, columns: 100 })
        open.host.ui.set({ ...open.host.ui.get(), jobView: 'all' })
        await open.advance(1_000)
        for (const key of ['\u0014', '\u0016', '\u0019', '\u000F', '\u0018']) {
          await open.type(key)
          await open.type('y')
          await open.type('\u001B')
          await open.type('\u001B')
        }
        open.close()
        for (const { words } of ran) {
          const [program, ...rest] = words.slice(4)
          const last = rest.at(-1) ?? ''
          expect(program === 'p' || HARMLESS.test(last.replace(/^echo /, ''))).toBe(true)
          expect(rest.length === 1 && last.startsWith('-')).toBe(false)
        }
      }),
      { numRuns: 15 },
    )
  })
})

it(':reload takes new keys and colors, and says what is wrong with them', async () => {
  const look = { palette: 'default', theme: 'dark', depth: 'truecolor', ascii: false } as const
  const wanted: (string | undefined)[] = []
  const { skin } = skinOf({ accent: '#D0BFFF' }, look)
  const reload: OpenOptions['reload'] = async (theme) => {
    wanted.push(theme)
    const { keys } = rebind([
      { act: 'freeze', keys: 'Z', line: 1 },
      { act: 'sort', keys: 'ctrl-t', line: 1 },
    ])
    return {
      ok: true,
      value: { keys, look: { ...look, skin }, faults: theme === undefined ? ['keys.json:1: bad'] : [] },
    }
  }
  const { type, text, host } = await jobs({ reload })
  expect(text()).toContain('s sort')
  await type(':reload')
  await type('\r')
  expect(text()).toContain('✗ keys.json:1: bad')
  expect(text()).toContain('^T sort')
  await type('\u001B')
  await type(':theme night')
  await type('\r')
  expect(text()).toContain('✓ keys and colors are read again')
  expect(wanted).toEqual([undefined, 'night'])
  expect(host.look()?.skin).toBe(skin)
})
