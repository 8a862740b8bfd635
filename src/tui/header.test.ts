import { afterEach, expect, it } from 'vitest'
import { gone, type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import { health, market } from './fixtures.testkit.ts'
import { lineWidth } from './parts/line.ts'
import { type Look, paint } from './parts/theme.ts'

/* What the header says by its color, and what it then does not offer. */

let open: Opened | undefined
afterEach(() => open?.close())

async function cockpit(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: market(), columns: 100, rows: 30, ...options })
  return open
}

const remote = { name: 'prod-eu', guarded: true, option: '-r prod-eu' } as const
const header = ({ lines }: Opened) => lines()[0] ?? []
const tonesIn = (opened: Opened) =>
  new Set(header(opened).map((piece) => (typeof piece === 'string' ? '' : piece.tone)))
const groundsIn = (opened: Opened) =>
  new Set(header(opened).map((piece) => (typeof piece === 'string' ? undefined : piece.ground)))
const look = (more: Partial<Look>): Look => ({ palette: 'default', theme: 'dark', depth: '256', ascii: false, ...more })

it('the whole header is red while writes are refused, and says why', async () => {
  const store = { ...health.store, writes: 'refused', note: 'The disk is full.' } as const
  const opened = await cockpit({ link: market({ 'GET /health': { ...health, store } }) })
  expect(tonesIn(opened)).toEqual(new Set(['alarm']))
  expect(lineWidth(header(opened))).toBe(100)
  expect(opened.rows()[0]).toContain('✗ disk full: no writes')
  // Without colors it is inverted, so that it is seen there too.
  expect(paint(header(opened), look({ palette: 'mono' }))).toContain('\u001B[7m')
  open?.close()
  expect(tonesIn(await cockpit())).not.toContain('alarm')
})

it('a remote is tinted and named as one, and the machine of the user is neither', async () => {
  const opened = await cockpit({ link: market({}, remote), readonly: true })
  expect(groundsIn(opened)).toEqual(new Set(['remote']))
  expect(opened.rows()[0]).toMatch(/^ souk {2}prod-eu · remote .*· read-only/)
  const [local, away] = ['bar', 'remote'].map((ground) =>
    paint([{ text: 'x', tone: 'plain', ground: ground as 'bar' }], look({})),
  )
  expect(local).not.toBe(away)
  open?.close()
  const own = await cockpit()
  expect(groundsIn(own)).toEqual(new Set(['bar']))
  expect(own.rows()[0]).not.toContain('remote')
})

it.each([
  [true, false],
  [false, true],
])('on a remote that is read-only (%s) the keys that change data are offered: %s', async (readonly, offered) => {
  const { text, type, host } = await cockpit({ link: market({}, remote), readonly })
  expect(text().includes('P pause payments')).toBe(offered)
  await type('P')
  expect(host.ui.get().dialog !== undefined).toBe(offered)
})

it('a remote that does not answer is not offered to be started', async () => {
  const link = market({}, remote)
  const { text, type, advance, host } = await cockpit({ link })
  link.broken = gone
  await advance(6_000)
  expect(text()).toContain('✗ no answer')
  expect(text()).not.toMatch(/\bU start it/)
  await type('U')
  expect(host.ui.get().dialog).toBeUndefined()
  expect(text()).toContain('Only the local daemon can be started here.')
})

it('a local daemon that is gone is offered to be started', async () => {
  const link = market()
  const { text, advance } = await cockpit({ link })
  link.broken = gone
  await advance(6_000)
  expect(text()).toMatch(/\bU start it/)
})

it.each([
  ['the operator', true, ['D decide', 'W refund']],
  ['a person without the admin key', false, []],
])('the key row of jobs offers %s only what works for them', async (_who, admin, offered) => {
  const link = market()
  link.admin = admin
  const { rows } = await cockpit({ link, screen: 'jobs', columns: 160, rows: 50 })
  for (const hint of ['D decide', 'W refund']) expect(rows().at(-1)?.includes(hint)).toBe(offered.includes(hint))
  expect(rows().at(-1)).toContain('v view')
})

it('the key row of logs offers levels only where there are any', async () => {
  const { rows, type } = await cockpit({ link: market(), screen: 'logs', columns: 160, rows: 50 })
  expect(rows().at(-1)).not.toContain('l level')
  for (let view = 0; view < 6; view += 1) await type('v')
  expect(rows().at(-1)).toContain('l level')
})
