import { afterEach, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../api/index.ts'
import { screenIds } from '../nouns/screens.ts'
import { widthOf } from '../text/text.ts'
import { gone, type Opened, type OpenOptions, openOn, sse } from './cockpit.testkit.tsx'
import { health, market, pausedHealth } from './fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

async function cockpit(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: market(), ...options })
  return open
}

const sizes = [
  [80, 24],
  [100, 30],
  [60, 18],
  [69, 40],
  [70, 20],
  [140, 50],
  [59, 18],
  [40, 10],
  [20, 5],
] as const

describe('the frame', () => {
  it.each(sizes.flatMap((size) => screenIds.map((screen) => [...size, screen] as const)))(
    'fills %i x %i exactly on %s',
    async (columns, rows, screen) => {
      const { text, rows: lines } = await cockpit({ columns, rows, screen })
      expect(lines()).toHaveLength(rows)
      for (const line of lines()) expect(widthOf(line)).toBeLessThanOrEqual(columns)
      expect(text()).toContain('● trading')
    },
  )

  it('follows the window from 80 x 24 to 100 x 30 and down to a card', async () => {
    const { rows, resize, text } = await cockpit()
    expect(rows()[1]).toContain(' 1 Over  2 Svcs  3 Jobs✗1 ')
    await resize(100, 30)
    expect(rows()).toHaveLength(30)
    expect(rows()[1]).toContain(' 1 Overview  2 Services 3 Jobs✗1 4 Threads ')
    expect(widthOf(rows()[2] ?? '')).toBe(100)
    await resize(50, 12)
    expect(rows()).toHaveLength(12)
    expect(text()).toContain('enlarge to 60x18')
    expect(text()).toContain('! 3 open problems')
    await resize(80, 24)
    expect(rows()[1]).toContain(' 1 Over  2 Svcs  3 Jobs✗1 ')
  })

  it('acts on no key where nothing of it is drawn, and holds the dialog that was open', async () => {
    const link = market()
    const { type, resize, text, host, until } = await cockpit({ link })
    await type('P')
    expect(text()).toContain('╭─ ')
    const { dialog } = host.ui.get()
    await resize(50, 12)
    const asked = link.calls.filter(({ method }) => method !== 'GET').length
    await type('why\r\ty\u001B3/x')
    await type('\u001B[200~pasted\u001B[201~')
    expect(host.ui.get().dialog).toBe(dialog)
    expect(link.calls.filter(({ method }) => method !== 'GET')).toHaveLength(asked)
    await resize(80, 24)
    expect(text()).toContain('╭─ ')
    await type('\u001B')
    await until(() => host.ui.get().dialog === undefined)
    expect(host.ui.get().screen).toBe('overview')
  })

  it.each([
    [80, 24],
    [100, 30],
    [160, 50],
  ])('of %i x %i floats what it asks over what it asks about', async (columns, rows) => {
    const { type, text, advance } = await cockpit({ screen: 'services', columns, rows })
    await advance(1_000)
    const chosen = text()
      .split('\n')
      .find((line) => line.startsWith('▌'))
    await type(':')
    expect(text()).toContain('╭─ Go or do')
    expect(text()).toContain('─ Services')
    await type('\u001B')
    await type('P')
    expect(text()).toContain('╭─ ')
    expect(chosen).toMatch(/^▌ \w/)
    expect(text()).toContain(chosen?.slice(0, 40))
  })

  it('does not say that it trades while every write is refused', async () => {
    const store = { ...health.store, writes: 'refused', note: 'The disk is full.' } as const
    const { rows } = await cockpit({ link: market({ 'GET /health': { ...health, store } }) })
    expect(rows()[0]).toContain('✗ disk full: no writes')
    expect(rows()[0]).not.toContain('trading')
  })

  it('tells instance, actor, state, what waits and the time in one row', async () => {
    const { rows, advance } = await cockpit()
    expect(rows()[0]).toMatch(/^ souk {2}local · admin {2}● trading +✗ 3 problems {2}● live {2}14:03:07 ?$/)
    await advance(1_000)
    expect(rows()[0]).toContain('● live  14:03:08')
  })

  it('says that business time was moved, and no longer when it is gone', async () => {
    const clock = { now: '2026-11-24T18:03:07.000Z', wall: '2026-11-21T14:03:07.000Z', offset_ms: 3 * 86_400_000 - 400 }
    const moved = { ...clock, state: 'frozen' as const, movable: true, next_cron: null }
    const link = market({ 'GET /dashboard/api/admin/clock': moved satisfies WireAnswer<'getClock'> })
    const { rows, advance } = await cockpit({ link, columns: 100, rows: 30 })
    // Where there is not room for all, whose it is gives way, and never the state.
    expect(rows()[0]).toMatch(/● trading .* clock \+3d, frozen {2}✗ 3 problems/)
    link.broken = gone
    await advance(12_000)
    expect(rows()[0]).not.toContain('clock')
  })

  it('has a plain form of every sign', async () => {
    const { text, type } = await cockpit({ ascii: true })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: anything but ASCII is what is looked for
    const foreign = /[^\u0000-\u007F]/
    expect(text()).toContain('* live')
    for (const keys of ['2', '3', '5', '6', '7', '9', '?']) {
      await type(keys)
      expect(text()).not.toMatch(foreign)
      // As a sign, the arrow key would be the key of the next page.
      if (keys === '2') expect(text()).toMatch(/ right tab {2}> page /)
    }
  })
})

describe('an instance that is gone', () => {
  it('is said with the way out; what was known stays with its age, and all recovers by itself', async () => {
    const { link, text, rows, advance } = await cockpit()
    link.broken = gone
    await advance(2_000)
    await advance(10_000)
    expect(rows()[0]).toContain('✗ daemon gone, 12s')
    expect(text()).toContain('✗ The local daemon is not running.  → souk up')
    expect(text()).toContain('$388.20')
    link.broken = undefined
    await advance(2_000)
    expect(rows()[0]).toContain('● trading')
    expect(text()).not.toContain('souk up')
  })

  it('is a screen of its own when it was never there', async () => {
    const link = market()
    link.broken = gone
    const { text, advance } = await cockpit({ link })
    for (const line of ['✗ The local daemon is not running.', 'last stop was 5s ago, cleanly', '→ souk up']) {
      expect(text()).toContain(line)
    }
    link.broken = undefined
    await advance(2_000)
    expect(text()).toContain('● trading')
  })

  it('may be something else that answers there', async () => {
    const { text } = await cockpit({ link: market({ 'GET /health': () => ({ ok: true, value: { hello: 'world' } }) }) })
    expect(text()).toContain('The instance sent a response that this version of souk cannot read.')
  })
})

describe('keys', () => {
  it('in one piece each act on what the one before left', async () => {
    const { type, rows } = await cockpit()
    await type('6jjj5\u001B[B\u001B[B')
    expect(rows()[2]).toMatch(/^─ Crons ─.* 5 of 5 /)
    expect(rows()[7]).toMatch(/^▌/)
    await type('-')
    expect(rows().findIndex((row) => row.startsWith('▌'))).toBe(8)
  })

  it('hold everything still and let it go on', async () => {
    const { type, rows, link, advance } = await cockpit()
    await type('z')
    expect(rows()[0]).toContain('‖ held')
    const before = link.calls.length
    await advance(60_000)
    expect(link.calls).toHaveLength(before)
    await type('z')
    expect(link.calls.length).toBeGreaterThan(before)
  })

  it('are listed by help, those that hold now, and act from there', async () => {
    const { type, text, rows } = await cockpit({ screen: 'crons' })
    await type('?')
    expect(text()).toContain('Keys for Crons')
    expect(text()).toMatch(/R +run it now/)
    await type('?')
    await type('6?')
    expect(text()).not.toContain('run it now')
    await type('9')
    expect(rows()[2]).toMatch(/^─ Logs ─/)
  })

  it('let a message go after a while', async () => {
    const { type, text, advance } = await cockpit({
      screen: 'crons',
      link: market({ 'POST /dashboard/api/admin/crons/provider-settlement/pause': { changed: true } }),
    })
    await type('Zy')
    expect(text()).toContain('is paused.')
    await advance(5_000)
    expect(text()).not.toContain('is paused.')
  })

  it.each(['q', '\u0003'])('%j leaves', async (key) => {
    const { type, exited } = await cockpit()
    await type(key)
    expect(exited()).toBe(true)
  })

  it('ctrl-c leaves from a dialog too, where q is a letter', async () => {
    const { type, exited, text } = await cockpit()
    await type('Pq')
    expect([exited(), text().includes('> q▏')]).toEqual([false, true])
    await type('\u0003')
    expect(exited()).toBe(true)
  })
})

describe('another installation behind the same address', () => {
  it('has an event log of its own', async () => {
    const { link, advance, text, tell } = await cockpit()
    await tell(sse(700, 'job.created'))
    await advance(500)
    link.answers['GET /health'] = { ...pausedHealth, instance_id: 'inst_2' }
    await advance(2_000)
    expect(link.cursors.at(-1)).toBeUndefined()
    expect(text()).not.toContain('job.created')
  })
})
