import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keptViewsFile } from '../cli/files/cockpit-style.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'

/* Filters, orders, columns and views last over restarts, for each marketplace. */

let state: string
let open: Opened | undefined
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'souk-kept-'))
})
afterEach(() => {
  open?.close()
  rmSync(state, { recursive: true })
})

async function cockpit(place = 'local') {
  open?.close()
  open = await openOn({
    link: market(),
    screen: 'jobs',
    columns: 100,
    rows: 30,
    keptViews: keptViewsFile({ state }, place),
  })
  return open
}

it('a filter, an order, a view and a hidden column are there again after a restart', async () => {
  const { type } = await cockpit()
  await type('vv/logo\rsr')
  await type('w\r')
  await type('\u001B')
  const { host, text } = await cockpit()
  expect(text()).toMatch(/\[disputed( \d+)?\].* \/logo/)
  expect(host.ui.get()).toMatchObject({ jobView: 'disputed', sorts: { jobs: '-id' }, filters: { jobs: 'logo' } })
  expect(host.ui.get().putAway.jobs).toHaveLength(1)
  expect((await cockpit('shop')).text()).not.toContain('/logo')
})

it('a half-typed filter is not kept, and a cleared one is gone', async () => {
  const first = await cockpit()
  await first.type('/logo')
  expect((await cockpit()).text()).not.toContain('/logo')
  await open?.type('/logo\r')
  await open?.type('\u001B')
  await open?.until(() => open?.text().includes('/logo') === false)
  expect((await cockpit()).text()).not.toContain('/logo')
})

it.each(['{', '{"local":{"filters":{"nowhere":"x"},"sorts":{},"putAway":{},"views":{"jobView":"odd"}}}'])(
  'a file of another version changes nothing: %s',
  async (text) => {
    writeFileSync(join(state, 'cockpit-views.json'), text)
    expect((await cockpit()).text()).toContain('[open')
  },
)
