import { afterEach, describe, expect, it } from 'vitest'
import { fakeLink, gone, type Opened, openOn } from './cockpit.testkit.tsx'
import { attention, market, pausedHealth } from './fixtures.testkit.ts'

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

const remote = (name: string) => ({ name, guarded: true, option: `-r ${name}` })
const links = {
  'local:second': market(
    { 'GET /dashboard/api/admin/attention': { ...attention, items: [], total: 0 } },
    { name: 'local:second', guarded: false, option: '' },
  ),
  'prod-eu': market({ 'GET /health': pausedHealth }, remote('prod-eu')),
  // It takes the connection and never answers.
  hung: fakeLink({ 'GET /health': () => new Promise(() => undefined) }, remote('hung')),
  down: Object.assign(fakeLink({}, remote('down')), { broken: gone }),
  stranger: market({}, remote('stranger')),
}

async function card(columns = 100): Promise<Opened> {
  const went: string[] = []
  const elsewhere = {
    names: () => Object.keys(links),
    link: (name: string) => Object.entries(links).find(([one]) => one === name)?.[1] ?? links.hung,
    go: (name: string) => void went.push(name),
  }
  delete links.stranger.answers['GET /dashboard/api/admin/attention']
  delete links.stranger.answers['GET /dashboard/api/admin/river']
  open = await openOn({ link: market(), columns, rows: 30, elsewhere })
  await open.type('@')
  return open
}

const rowsOf = ({ rows }: Opened) =>
  rows().flatMap((row) => /│[ ▌]+(@\S+|local, here) +(.*?) *│/.exec(row)?.slice(1, 3) ?? [])

describe('@', () => {
  it('shows each marketplace with state, problems, money and latency; one that hangs holds up no other', async () => {
    const shown = await card()
    expect(shown.text()).toContain('╭─ Marketplaces')
    const first = ['@local:second', '● trading  ✓ no problems  $1,284.30 today  0 ms']
    const others = ['@down', 'remote  ✗ unreachable', '@stranger', 'remote  ● trading', 'local, here']
    expect(rowsOf(shown).map((text) => text.replace(/ {2,}/g, '  '))).toEqual(
      expect.arrayContaining([...first, '@prod-eu', '@hung', 'remote  ○ asking', others[0], others[1], 'local, here']),
    )
    await shown.advance(3_000)
    expect(rowsOf(shown).map((text) => text.replace(/ {2,}/g, '  '))).toEqual([
      ...first,
      '@prod-eu',
      'remote  ‖ paused  ! 3 problems  $1,284.30 today  0 ms',
      '@hung',
      'remote  ! no answer',
      ...others.slice(0, 2),
      '@stranger',
      'remote  ● trading  0 ms',
      'local, here',
      '● trading  ! 3 problems  $1,284.30 today  0 ms',
    ])
  })

  it('is as high as its rows, and gets lower as fewer match', async () => {
    const shown = await card()
    const at = (border: string) => shown.rows().findIndex((row) => row.includes(border))
    const height = () => at('╰─') - at('╭─ Marketplaces') + 1
    // Beside the rows: the typed line, the one below it, and two borders.
    expect(height()).toBe(Object.keys(links).length + 1 + 4)
    await shown.type('prod')
    expect(height()).toBe(1 + 4)
  })

  it('tints remotes', async () => {
    const shown = await card()
    const tinted = shown
      .lines()
      .filter((line) => line.some((piece) => typeof piece !== 'string' && piece.ground === 'remote'))
    expect(tinted).toHaveLength(4)
  })

  it.each([60, 80])('keeps amounts whole or leaves them out at %i columns', async (columns) => {
    const shown = await card(columns)
    await shown.advance(3_000)
    expect(shown.text()).toContain('@hung')
    expect(shown.text()).not.toMatch(/\$[\d,.]*…/)
    for (const text of ['no answer', '✓ no problems', 'remote']) expect(shown.text()).toContain(text)
  })

  it('asks no longer than it is open', async () => {
    const shown = await card()
    await shown.advance(3_000)
    shown.host.ui.set({ ...shown.host.ui.get(), picker: undefined })
    await shown.advance(1_000)
    const asked = links['prod-eu'].calls.length
    await shown.advance(60_000)
    expect(links['prod-eu'].calls).toHaveLength(asked)
  })
})
