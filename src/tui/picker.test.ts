import { afterEach, describe, expect, it } from 'vitest'
import { entries } from '../../commands/index.ts'
import { candidates } from '../cli/run/completion.ts'
import { splitWords } from '../cli/split-words.ts'
import { screenIds } from '../nouns/screens.ts'
import { type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import { boxIn } from './drawn.testkit.ts'
import { market } from './fixtures.testkit.ts'
import { bindings, bindingsOn } from './shell/bindings.ts'
import { commandIn, shownBy } from './shell/commands.ts'
import type { CommandLine } from './shell/screen.ts'

let open: Opened | undefined
afterEach(() => open?.close())

const ran: (readonly string[])[] = []

/** The command line's own names, words and completion; what it is told to run is only written down. */
const commandLine: CommandLine = {
  commands: entries.filter(({ hidden, aliasOf }) => !hidden && aliasOf === undefined),
  split: (line) => (line.trim() === '' ? [] : splitWords(line)),
  complete: (words) => candidates({ entries, words, values: async () => [] }),
  async run(words) {
    ran.push(words)
    return { ok: true, value: 'done as told' }
  },
}

async function cockpit(more: Partial<OpenOptions> = {}) {
  ran.length = 0
  open = await openOn({ link: market(), commandLine, ...more })
  return open
}

describe('the palette', () => {
  it('leads to a screen with the filter and sort of its command, in the words of a shell', async () => {
    const { type, rows } = await cockpit()
    await type(':admin jobs list --filter "late:yes amount:>1" --sort -amount\r')
    expect(rows()[2]).toMatch(/^─ Jobs/)
    expect(rows()[3]).toContain('[all]')
    expect(rows()[3]).toContain('/late:yes amount:>1')
    expect(rows()[3]).toContain('by amount ↓')
  })

  it.each([
    [':jobs --status disputed', '/status:disputed', 'filtered by status:disputed'],
    [':jobs --filter "late:yes amount:>1" --sort=-amount', '/late:yes amount:>1', 'filtered by late:yes amount:>1'],
    [':jobs --nothing else', '/--nothing else', 'filtered by --nothing else'],
  ])('leads to a screen by its name with the flags of its list: %s', async (line, filter, told) => {
    const { type, rows, text } = await cockpit({ columns: 160 })
    await type(line)
    expect(text()).toContain(told)
    await type('\r')
    expect(rows()[2]).toMatch(/^─ Jobs/)
    expect(rows()[3]).toContain(filter)
  })

  it('knows screens by their names, those without a digit too, and back leads back', async () => {
    const { type, rows } = await cockpit()
    await type(':peo\r')
    expect(rows()[2]).toMatch(/^─ People/)
    await type('[')
    expect(rows()[2]).toMatch(/Money/)
    await type(':jobs disputed\r')
    expect(rows()[3]).toContain('/disputed')
  })

  it('completes from the table that shells complete from', async () => {
    const { type, text, until } = await cockpit()
    await type(':crons ')
    await until(() => text().includes('resume'))
    await type('ru')
    await until(() => !text().includes('resume'))
    await type('\t')
    expect(text()).toContain(':crons run ▏')
  })

  it('asks before it runs anything, shows the command, and runs that one', async () => {
    const { type, text } = await cockpit()
    await type(':crons run provider-settlement\r')
    expect(text()).toContain('RUN A COMMAND')
    expect(text()).toContain('same as  souk crons run provider-settlement --yes')
    expect(ran).toEqual([])
    await type('y')
    expect(ran).toEqual([['crons', 'run', 'provider-settlement', '--yes', '--no-input']])
    expect(text()).toContain('done as told')
  })

  it('runs nothing in a read-only cockpit, and nothing that never ends', async () => {
    const reading = await cockpit({ readonly: true })
    await reading.type(':crons run provider-settlement\r')
    expect(reading.text()).toContain('This cockpit is read-only')
    reading.close()
    const { type, text } = await cockpit()
    await type(':listen\r')
    expect(text()).toContain('needs its own terminal')
    expect(ran).toEqual([])
  })

  it.each([
    ['job_0123456789abcdef', 'jobs', 'id:job_0123456789abcdef'],
    ['thr_0123456789abcdef', 'threads', 'id:thr_0123456789abcdef'],
    ['plan_0123456789abcdef', 'services', 'id:plan_0123456789abcdef'],
    ['out_0123456789abcdef', 'money', 'id:out_0123456789abcdef'],
    ['0x00000000000000000000000000000000000000b1', 'people', 'wallet:0x00000000000000000000000000000000000000b1'],
  ] as const)('offers to go to %s, which was pasted', async (id, screen, filter) => {
    const { type, host, until } = await cockpit({ screen: 'logs' })
    await type(':')
    await type(`\u001B[200~ ${id}\n\u001B[201~`)
    // The first offer for a person is the card.
    await type(screen === 'people' ? '\u001B[B\r' : '\r')
    await until(() => host.ui.get().screen === screen)
    expect(host.ui.get().filters[screen]).toBe(filter)
  })

  it('offers its last line again', async () => {
    const { type, text } = await cockpit()
    await type(':people\r:\u001B[A')
    expect(text()).toContain(':people▏')
  })

  it('names only commands and screens that there are', () => {
    for (const [name, [screen]] of Object.entries(shownBy)) {
      expect(commandIn(commandLine, name.split(' '))?.name).toBe(name)
      expect(screenIds).toContain(screen)
    }
  })
})

describe('help', () => {
  it.each(screenIds)('names on %s every key that does something there, and no other', async (screen) => {
    const { type, rows } = await cockpit({ screen, rows: 60, columns: 100 })
    await type('?')
    const box = boxIn(rows()).join('\n')
    for (const { label } of bindingsOn({ screen, readonly: false })) expect(box).toContain(label)
    const foreign = bindings.filter(({ on }) => on !== undefined && !on.includes(screen))
    const own = new Set(bindingsOn({ screen, readonly: false }).map(({ label }) => label))
    for (const { label } of foreign.filter((one) => !own.has(one.label))) expect(box).not.toContain(` ${label} `)
  })

  it('is searched by what is typed, and does what is found', async () => {
    const { type, text, rows } = await cockpit({ screen: 'crons' })
    await type('?run it')
    expect(text()).toContain('run it now')
    expect(text()).not.toContain('freeze')
    await type('\r')
    expect(text()).toContain('RUN A CRON NOW')
    await type('n')
    await type('?freeze\r')
    expect(rows()[0]).toContain('‖ held')
  })

  it('says where nothing is found', async () => {
    const { type, text } = await cockpit()
    await type('?qqqq\r')
    expect(text()).toContain('no such key here')
  })
})
