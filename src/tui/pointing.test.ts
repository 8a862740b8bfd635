import { afterEach, describe, expect, it } from 'vitest'
import { type Opened, type OpenOptions, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { bundle, job, jobId, jobsOf } from './jobs/jobs.testkit.ts'

const rows = [1, 2, 3, 4, 5].map((number) => job(number, 'dispatched'))
const LIST = 'GET /dashboard/api/admin/jobs'
const trade = () => market({ [LIST]: jobsOf(rows), [`${LIST}/${jobId(1)}/bundle`]: bundle(job(1, 'dispatched')) })

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

async function cockpit(options: Partial<OpenOptions> = {}): Promise<Opened> {
  open = await openOn({ link: market(), mouse: true, columns: 160, rows: 50, ...options })
  return open
}

/** Sends reports for the cell at which a text begins. */
async function at({ rows, type }: Opened, text: string | RegExp, ...codes: readonly number[]): Promise<void> {
  const row = rows().findIndex((line) => line.search(text) >= 0)
  const column = rows()[row]?.search(text) ?? -1
  expect(column, `${text} is shown`).toBeGreaterThanOrEqual(0)
  for (const code of codes) await type(`\u001B[<${code};${column + 1};${row + 1}M`)
}

const [CLICK, UP, DOWN] = [0, 64, 65]
const chosenOf = ({ host }: Opened) => host.ui.get().chosen[host.ui.get().screen]

describe('the mouse', () => {
  it('opens a tab', async () => {
    const shown = await cockpit()
    await at(shown, '5 Crons', CLICK)
    expect(shown.host.ui.get().screen).toBe('crons')
    expect(shown.text()).toContain('─ Crons')
    await at(shown, '3 Jobs', CLICK)
    expect(shown.host.ui.get().screen).toBe('jobs')
  })

  it('chooses a row with a click, and opens it with a second one', async () => {
    const shown = await cockpit({ screen: 'jobs', link: trade() })
    const [first, second] = shown.host.face.current.ids
    await at(shown, '▌', CLICK)
    expect(shown.host.ui.get().pane.open).toBe('beside')
    await shown.type('j')
    expect(chosenOf(shown)).toBe(second)
    const other = shown.host.face.current.lines?.findIndex((line) =>
      line.some((piece) => typeof piece !== 'string' && piece.hit && 'row' in piece.hit && piece.hit.row === first),
    )
    const click = `\u001B[<0;20;${(other ?? 0) + 1}M`
    await shown.type(click)
    expect(chosenOf(shown)).toBe(first)
    expect(shown.host.ui.get().pane.open).toBe('beside')
    await shown.type(click)
    expect(shown.host.ui.get().pane.open).toBe('full')
  })

  it('takes the focus to another panel of the overview', async () => {
    const shown = await cockpit()
    expect(shown.host.ui.get().panel).toBe('needs')
    await at(shown, /escrow-monitor/, CLICK)
    expect([shown.host.ui.get().panel, chosenOf(shown)]).toEqual(['crons', 'escrow-monitor'])
    await at(shown, /escrow-monitor/, CLICK)
    expect(shown.host.ui.get().screen).toBe('crons')
  })

  it('scrolls the list under it, not the pane beside it, and an opened row', async () => {
    const shown = await cockpit({ screen: 'jobs', link: trade() })
    const { ids } = shown.host.face.current
    await at(shown, '▌', DOWN)
    expect(chosenOf(shown)).toBe(ids[3])
    await at(shown, '▌', UP)
    expect(chosenOf(shown)).toBe(ids[0])
    await shown.type('\u001B[<65;30;1M\u001B[<65;150;10M')
    expect(chosenOf(shown)).toBe(ids[0])
    await shown.resize(80, 18)
    await shown.type('e')
    await shown.advance(1_000)
    await shown.type('\u001B[<65;30;8M')
    expect(shown.host.ui.get().pane).toEqual({ open: 'raw', scroll: 3 })
  })

  it('answers no dialog and no picker, whatever is clicked', async () => {
    const shown = await cockpit()
    await shown.type('P')
    const { dialog } = shown.host.ui.get()
    const asked = shown.link.calls.filter(({ method }) => method !== 'GET').length
    for (let row = 1; row <= 50; row += 1)
      for (let column = 1; column <= 160; column += 8) await shown.type(`\u001B[<0;${column};${row}M`)
    expect(shown.host.ui.get().dialog).toBe(dialog)
    expect(shown.link.calls.filter(({ method }) => method !== 'GET')).toHaveLength(asked)
    shown.host.ui.set({ ...shown.host.ui.get(), dialog: undefined })
    await shown.type(':')
    await shown.type('\u001B[<65;10;20M\u001B[<0;10;20M\u001B[<0;5;2M')
    expect(shown.host.ui.get().picker).toMatchObject({ kind: 'palette', text: '', at: 1 })
    await shown.type('\u001B[<64;10;20M\u001B[<64;10;20M')
    expect(shown.host.ui.get().picker).toMatchObject({ text: '', at: 0 })
    expect(shown.host.ui.get().screen).toBe('overview')
  })

  it('does nothing below 60x18', async () => {
    const shown = await cockpit({ columns: 50, rows: 12 })
    const before = shown.host.ui.get()
    for (let row = 1; row <= 12; row += 1) await shown.type(`\u001B[<0;4;${row}M\u001B[<65;4;${row}M`)
    expect(shown.host.ui.get()).toBe(before)
  })

  it('leaves a pasted report as text', async () => {
    const shown = await cockpit({ screen: 'jobs' })
    await shown.type('/')
    await shown.type('\u001B[200~a\u001B[<0;10;2Mb\u001B[201~')
    expect(shown.host.ui.get().filters.jobs).toMatch(/^a.*\[<0;10;2Mb$/)
    expect(shown.host.ui.get().screen).toBe('jobs')
  })

  it('is not read unless asked for', async () => {
    const shown = await cockpit({ mouse: false })
    await at(shown, '5 Crons', CLICK)
    expect(shown.host.ui.get().screen).not.toBe('crons')
  })
})
