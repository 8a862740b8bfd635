import { afterEach, expect, it } from 'vitest'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'

/* What 60 columns must not lose. */

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

async function narrow(screen: 'overview' | 'clock' | 'jobs' | 'compliance'): Promise<Opened> {
  open = await openOn({ link: market(), screen, columns: 60, rows: 18 })
  await open.advance(1_000)
  return open
}

it('the palette says what each entry does, apart from its key', async () => {
  const { type, text } = await narrow('overview')
  await type(':')
  expect(text()).toMatch(/▌ overview +go to Overview +1 /)
  expect(text()).toMatch(/ endpoints +go to Endpoints +6 /)
})

it('the list of columns says whether each is shown', async () => {
  const { type, text } = await narrow('jobs')
  await type('w')
  expect(text()).toMatch(/SERVICE +(?:shown if there is room|hidden)/)
})

it('the clock names the cron that runs', async () => {
  const { text } = await narrow('clock')
  expect(text()).toMatch(/cron +runs +escrow-monitor/)
})

it.each(['clock', 'compliance'] as const)('no rule of %s has a hole where a note is empty', async (screen) => {
  const { rows } = await narrow(screen)
  for (const row of rows()) expect(row).not.toMatch(/─ {2,}─/)
})
