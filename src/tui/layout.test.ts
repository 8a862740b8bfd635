import { afterEach, expect, it } from 'vitest'
import type { ScreenId } from '../model/screen.ts'
import { widthOf } from '../text/text.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'

/* Where things stand on each screen at the sizes it is made for: its panels, in order, and how wide they are. */

let open: Opened | undefined

afterEach(() => {
  open?.close()
  open = undefined
})

const TITLE = /(?:^|[┬┼├┤│])─ ([^─┬┼]+?) ─+/g

/** Titles of panels by the row and column that they begin at. */
function panelsOf(
  rows: readonly string[],
): { readonly title: string; readonly row: number; readonly column: number }[] {
  return rows.flatMap((text, row) =>
    [...text.matchAll(TITLE)].map((match) => ({
      title: (match[1] ?? '').replace(/ [\d,]+\b.*$/, ''),
      row,
      column: match.index,
    })),
  )
}

async function frame(screen: ScreenId, columns: number, rows: number): Promise<string[]> {
  open = await openOn({ link: market(), screen, columns, rows })
  await open.advance(1_000)
  return open.rows()
}

const stacked = ['Money today', 'Needs a hand', 'Pulse', 'Work', 'Crons', 'Live']

it.each([
  [160, 50, ['Money today', 'Pulse', 'Work', 'Needs a hand', 'Crons', 'Calls of the market', 'Live']],
  [100, 30, stacked],
  [80, 24, ['Money today', 'Needs a hand', 'Pulse', 'Work', 'Live']],
  [60, 18, ['Money today', 'Needs a hand', 'Work', 'Live']],
] as const)('the overview of %i x %i has its panels in their order', async (columns, rows, titles) => {
  const text = await frame('overview', columns, rows)
  const found = panelsOf(text).map(({ title }) => title)
  expect(found).toEqual(titles)
  const sides = new Set(panelsOf(text).map(({ column }) => column))
  expect(sides.size).toBe(columns === 160 ? 2 : 1)
  for (const row of text) expect(widthOf(row)).toBe(columns)
})

it('the overview of 160 columns gives its right side 59 of them', async () => {
  const text = await frame('overview', 160, 50)
  const right = panelsOf(text).find(({ column }) => column > 0)
  expect(160 - (right?.column ?? 0) - 1).toBe(59)
})

it.each([
  ['money', 80, 24, ['Books', 'Held']],
  ['money', 160, 50, ['Books', 'Paid in, $ a quarter of an hour', 'Held']],
  ['compliance', 100, 30, ['Sanctions list', 'Refused at the gate', 'Identity checks']],
  ['clock', 80, 24, ['Clock', 'Falls due next']],
  ['people', 80, 24, ['People']],
  ['requests', 80, 24, ['Requests and bids']],
] as const)('%s of %i x %i has its panels', async (...[screen, columns, rows, titles]) => {
  const text = (await frame(screen, columns, rows)).join('\n')
  for (const title of titles) expect(text).toContain(`─ ${title}`)
})

it.each([
  ['crons', 80, 24, /CRON +LAST OK +NEXT +STATE +LAST 12 RUNS/],
  ['endpoints', 100, 30, /METHOD +PATH +PRICE +STATUS +CALLS +LAST 12 H +P50 +P95/],
  ['clock', 100, 30, /IN +AT +KIND +WHAT +WHOSE +AMOUNT/],
] as const)('the columns of %s at %i x %i stand in their order', async (...[screen, columns, rows, head]) => {
  expect((await frame(screen, columns, rows)).join('\n')).toMatch(head)
})
