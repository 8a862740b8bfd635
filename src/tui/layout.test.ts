import { afterEach, describe, expect, it } from 'vitest'
import examples from '../api/answer-examples.json' with { type: 'json' }
import type { ScreenId } from '../nouns/screens.ts'
import { widthOf } from '../text/text.ts'
import { type FakeLink, gone, NOW, type Opened, type OpenOptions, openOn, sse } from './cockpit.testkit.tsx'
import { boxIn } from './drawn.testkit.ts'
import { market } from './fixtures.testkit.ts'
import { job, jobId } from './jobs/jobs.testkit.ts'

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

type Wanted = [screen: ScreenId, columns: number, rows: number, link?: FakeLink]

async function frame(...[screen, columns, rows, link = market()]: Wanted): Promise<string[]> {
  open = await openOn({ link, screen, columns, rows })
  await open.advance(1_000)
  return open.rows()
}

const stacked = ['Money today', 'Open problems', 'Pulse', 'Work', 'Crons', 'Live']

it.each([
  [160, 50, ['Money today', 'Pulse', 'Work', 'Open problems', 'Crons', 'API calls', 'Live']],
  [100, 30, stacked],
  [80, 24, ['Money today', 'Open problems', 'Pulse', 'Work', 'Live']],
  [60, 18, ['Money today', 'Open problems', 'Work', 'Live']],
] as const)('the overview of %i x %i has its panels in their order', async (columns, rows, titles) => {
  const text = await frame('overview', columns, rows)
  const found = panelsOf(text).map(({ title }) => title)
  expect(found).toEqual(titles)
  const sides = new Set(panelsOf(text).map(({ column }) => column))
  expect(sides.size).toBe(columns === 160 ? 2 : 1)
  for (const row of text) expect(widthOf(row)).toBe(columns)
})

it('the overview of 60 x 18 has what came in as a line under its river, and something of the feed', async () => {
  const text = await frame('overview', 60, 18)
  const needs = text.findIndex((row) => row.startsWith('─ Open problems'))
  expect(text[needs - 1]).toMatch(/^ [ ▁▂▃▄▅▆▇]{44} in, last hour +$/)
  expect(text.slice(3, needs - 1).join('')).toMatch(/ \$1,284\.30 in .*▸ {2}\$388\.20 held/)
  expect(text.findIndex((row) => row.startsWith('─ Live'))).toBeLessThan(16)
})

it.each([
  [100, 30],
  [160, 50],
] as const)(
  'at %i x %i a sentence that waits is told whole, on a second row where one is too short',
  async (columns, rows) => {
    const [first, ...others] = examples.getAttention.answer.items
    const sentence = 'A buyer disputes "Site audit": it waits for your decision, nobody else decides'
    const answer = { ...examples.getAttention.answer, items: [{ ...first, sentence }, ...others] }
    const text = await frame('overview', columns, rows, market({ 'GET /dashboard/api/admin/attention': answer }))
    const at = text.findIndex((row) => row.startsWith('▌'))
    const inbox = text.slice(at, at + 2).map((row) => row.slice(0, 100).replace(/ \d+[smhd] \S .*$/, ''))
    expect(inbox.join(' ').replace(/ +/g, ' ')).toContain(sentence)
  },
)

it('the overview of 160 columns gives its right side 59 of them', async () => {
  const text = await frame('overview', 160, 50)
  const right = panelsOf(text).find(({ column }) => column > 0)
  expect(160 - (right?.column ?? 0) - 1).toBe(59)
})

it.each([
  ['money', 80, 24, ['Books', 'Held']],
  ['money', 160, 50, ['Books', 'Paid in per hour, $', 'Held']],
  ['compliance', 100, 30, ['Sanctions list', 'Refused requests', 'Identity checks']],
  ['clock', 80, 24, ['Clock', 'Due next']],
  ['people', 80, 24, ['People']],
  ['requests', 80, 24, ['Requests and bids']],
] as const)('%s of %i x %i has its panels', async (...[screen, columns, rows, titles]) => {
  const text = (await frame(screen, columns, rows)).join('\n')
  for (const title of titles) expect(text).toContain(`─ ${title}`)
})

it.each([
  ['crons', 80, 24, /STATE +NAME +LAST 12 RUNS +TOOK +OK +NEXT/],
  ['crons', 160, 50, /STATE +NAME +LAST 20 RUNS +TOOK +OK +NEXT/],
  ['services', 100, 30, /NAME +PROVIDER +KIND +BUYER PAYS +REP +SOLD 7D +REFUND +ENDPOINT/],
  ['services', 220, 40, /NAME +PROVIDER +KIND +BUYER PAYS +REP +SOLD 7D +REFUND +ENDPOINT +SERVICE/],
  ['endpoints', 100, 30, /VERB +PATH +PRICE +STATE +CALLS +LAST 12 H +P50 +P95/],
  ['clock', 100, 30, /IN +AT +KIND +WHAT +WHOSE +AMOUNT/],
] as const)('the columns of %s at %i x %i stand in their order', async (...[screen, columns, rows, head]) => {
  expect((await frame(screen, columns, rows)).join('\n')).toMatch(head)
})

const REQUESTS = 'GET /dashboard/api/admin/requests'
const { id: asked } = examples.listRequests.answer.requests[0] ?? { id: '' }

it.each([
  [80, 24],
  [100, 30],
  [160, 50],
] as const)('the requests of %i x %i have their story beside them, or below', async (columns, rows) => {
  const link = market({
    [REQUESTS]: examples.listRequests.answer,
    [`${REQUESTS}/${asked}/story`]: examples.getRequestStory.answer,
  })
  const text = await frame('logs', columns, rows, link)
  expect(panelsOf(text).map(({ title, column }) => [title, column])).toEqual([
    ['Logs', 0],
    [asked, columns === 160 ? 100 : 0],
  ])
  expect(text[2]).toMatch(/^─ Logs ─+ 1 of 1 {2}\/ filter ─/)
  const views = 'requests]  paid  refused  webhooks  crons  admin  everything'
  const order = columns === 80 ? '● follows f   ' : '● follows f   newest first  s sort '
  expect(text[3]?.slice(0, columns === 160 ? 100 : columns)).toMatch(new RegExp(`^ \\[${views} +${order}$`))
  expect(text[4]).toMatch(/^ {2}TIME +WHAT +SERVICE +(?:VERB +)?PATH +(?:HTTP +)?TOOK +WHO +PRICE/)
  if (columns !== 80) expect(text[4]).toMatch(/ VERB .* HTTP .* STEPS/)
  expect(text.join('\n')).toMatch(columns === 160 ? /│ \[story\] {2}json +←→ / : /─ \[story\] {2}json ─/)
  expect(text[5]).toMatch(/ \/v1\/s\S* /)
})

it.each([
  [
    'endpoints',
    80,
    24,
    'Endpoints',
    /^ \[all 4\] {2}called 0 {2}paid 3 {2}paused 0 {2}off 1 {2}broken 0 +calls, most first {2}s sort $/,
  ],
  [
    'endpoints',
    160,
    50,
    'Endpoints',
    /^ \[all 4\] {2}called 0 {2}paid 3 {2}paused 0 {2}off 1 {2}broken 0 +calls, most first {2}s sort $/,
  ],
] as const)('%s of %i x %i says what is in sight and its order', async (...[screen, columns, rows, title, views]) => {
  const text = await frame(screen, columns, rows)
  expect(text[2]).toMatch(new RegExp(`^─ ${title} ─+ \\d of \\d {2}/ filter ─$`))
  expect(text[3]).toMatch(views)
})

it.each([
  [60, 18],
  [80, 24],
  [100, 30],
  [160, 50],
] as const)('compliance of %i x %i has its panels in two columns where there is room', async (columns, rows) => {
  const text = await frame('compliance', columns, rows)
  const found = panelsOf(text)
  expect(found.map(({ title }) => title)).toContain('Identity checks')
  expect(found.find(({ title }) => title === 'Refused requests')?.column).toBe(columns === 60 ? 0 : columns / 2)
  for (const row of text) expect(widthOf(row)).toBe(columns)
})

describe('what is chosen stands', () => {
  const jobs = () =>
    market({ 'GET /dashboard/api/admin/jobs': { jobs: [job(1, 'disputed')], total: 1, limit: 50, offset: 0 } })

  it('beside the list of jobs where there is room, 59 columns of it, with a row for its tabs', async () => {
    const text = await frame('jobs', 160, 36, jobs())
    const [list, drawer] = panelsOf(text)
    expect([list?.title, list?.row, drawer?.title, drawer?.row]).toEqual(['Jobs', 2, jobId(1), 2])
    expect(160 - (drawer?.column ?? 0) - 1).toBe(59)
    expect(text[2]).toMatch(/┬─ job_[0-9a-f]{16} ─+ enter whole screen ─$/)
    expect(text[3]?.slice(101).trimEnd()).toBe(' [story]  input  result  messages  money  json          ←→')
    expect(text[4]).toMatch(/^ {2}STATE +SERVICE +BUYER +→ PROVIDER +AMOUNT +AGE +LEFT +JOB +│/)
    for (const row of text.slice(3, 35)) expect(row[100]).toMatch(/[│┤]/)
  })

  it('below the list of jobs where there is none', async () => {
    const text = await frame('jobs', 100, 30, jobs())
    expect(panelsOf(text).map(({ title, column }) => [title, column])).toEqual([
      ['Jobs', 0],
      [jobId(1), 0],
    ])
    expect(text.join('\n')).toMatch(/─ \[story\] {2}input {2}result {2}messages {2}money {2}json ─/)
  })
})

it('the dialog floats over the screen, with its command over the keys', async () => {
  await frame('overview', 80, 24)
  await open?.type('P')
  const text = open?.rows() ?? []
  const box = boxIn(text)
  expect(box[0]).toMatch(/^╭─ PAUSE THE PLATFORM ─{53}╮$/)
  expect(box.at(-1)).toMatch(/^╰─{74}╯$/)
  expect(box.at(-2)).toContain('[ Cancel  esc ]    [ Pause – needs a reason ]')
  expect(text.join('\n')).toContain('─ Money today ─')
  expect(text[22]).toMatch(/^ same as {2}souk admin platform pause --reason/)
  for (const row of text) expect(widthOf(row)).toBe(80)
})

it('the help stands in two columns, each with groups, keys and what they do', async () => {
  await frame('jobs', 100, 30)
  await open?.type('?')
  const box = boxIn(open?.rows() ?? [])
  expect(box[0]).toMatch(/^╭─ Keys for Jobs ─+╮$/)
  expect(box[1]).toMatch(/^│ \?▏type to search +│$/)
  expect(box[2]).toMatch(/^│ MOVE {2}↑ k {8}up {10,}\S/)
  for (const row of open?.rows() ?? []) expect(widthOf(row)).toBe(100)
})

it('the palette stands in a box: what is typed, what can be picked, what each is', async () => {
  await frame('jobs', 100, 30)
  await open?.type(':jo')
  const box = boxIn(open?.rows() ?? [])
  expect(box[0]).toMatch(/^╭─ Go or do ─+╮$/)
  expect(box[1]).toMatch(/^│ {2}:jo▏ +│$/)
  expect(box[3]).toMatch(/^│ ▌ jobs +go to Jobs +3 +│$/)
})

it('compliance has two rows of two panels over the checks where there is room', async () => {
  const text = await frame('compliance', 100, 30)
  expect(panelsOf(text).map(({ title, column }) => [title.replace(/ \$.*/, ''), column])).toEqual([
    ['Sanctions list', 0],
    ['Refused requests', 50],
    ['Kept back', 0],
    ['Reads of private data', 50],
    ['Calls to disabled areas', 0],
    ['Identity checks', 0],
  ])
})

it('the card says state, need, gravest, money in, held, the size that shows all, and the way out', async () => {
  const text = (await frame('overview', 40, 10)).map((row) => row.trim())
  expect(text.slice(0, 7)).toEqual([
    'souk  ● trading  14:03:08',
    '! 3 open problems',
    expect.stringMatching(/^\? dispute Inkwell \$2\.625$/),
    '$1,284.30 in today',
    '$388.20 held, books agree',
    'enlarge to 60x18',
    'q quit',
  ])
})

it.each([
  [{ dispute: 1, endpoint: 3 }, ' 1 Ove  2 Svc!3 3 Job✗1 4 Thr 5 Cro 6 End 7 Mon 8 Com 9 Log'],
  [
    { dispute: 1, cron: 2, endpoint: 3, payout: 1, sanctions_list: 1 },
    ' 1 Ov  2 Sv!3 3 Jo✗1 4 Th 5 Cr!2 6 En 7 Mo!1 8 Co!1 9 Lo',
  ],
])('the tabs of 60 columns keep a part of their names, whatever waits on them: %j', async (waits, tabs) => {
  const { items, counts, total } = examples.getAttention.answer
  const answer = { items, total, counts: { ...counts, ...waits } }
  const text = await frame('overview', 60, 18, market({ 'GET /dashboard/api/admin/attention': answer }))
  expect(text[1]?.trimEnd()).toBe(tabs)
})

it('a feed of less than 76 columns tells minutes, a wider one seconds', async () => {
  const sold = sse(1, 'payment.fulfilled', { about: examples.listAllJobs.answer.jobs[0]?.about })
  for (const [columns, time] of [
    [60, / \d\d:\d\d \S /],
    [80, / \d\d:\d\d:\d\d \S /],
  ] as const) {
    await frame('overview', columns, 24)
    await open?.tell(sold)
    const rows = open?.rows() ?? []
    expect(rows[rows.findIndex((row) => row.startsWith('─ Live')) + 1]).toMatch(time)
    open?.close()
  }
})

it('endpoints of 100 columns say what broke of each', async () => {
  const calls = { answered: 98, asked_to_pay: 298, refused: 14, broken: 1, switched_off: 0 }
  const row = {
    endpoint: 'purchaseService',
    method: 'POST',
    path: '/v1/services/:id/purchase',
    calls,
    total: 411,
    p50_ms: 9.4,
    p95_ms: 1_284.6,
    by_hour: Array.from({ length: 24 }, (_, i) => i),
    slowest: null,
    last_broken: null,
    sold: { times: 0, amount: '0.00' },
  }
  const answer = { ...examples.getEndpointFigures.answer, endpoints: [row] }
  const text = await frame('endpoints', 100, 30, market({ 'GET /dashboard/api/admin/endpoints': answer }))
  expect(text.join('\n')).toMatch(/▌ POST .* 411 +\S{12} +9\.4 ms +1285 ms +298 +0\.2 %$/m)
})

it('runs of a cron are told by their time, and by their date where they lie days back', async () => {
  const [example] = examples.listCrons.answer.crons
  const ranAt = (at: number) => ({
    at: new Date(at).toISOString(),
    took_ms: 4,
    trigger: 'schedule',
    result: 'success',
    reason: null,
  })
  const runs = [ranAt(NOW - 1_000), ranAt(NOW - 3_600_000), ranAt(NOW - 3 * 86_400_000)]
  const answer = { ...examples.listCrons.answer, crons: [{ ...example, runs }] }
  const text = await frame('crons', 100, 30, market({ 'GET /dashboard/api/admin/crons': answer }))
  const first = text.findIndex((row) => row.startsWith(' last run'))
  expect(text[first + 1]).toMatch(/^ 13:03:0\d {10}✓ ran +4 ms {2}schedule/)
  expect(text[first + 2]).toMatch(/^ 2026-11-18 14:03 {2}✓ ran +4 ms {2}schedule/)
})

it('the card of a daemon that is gone states no money of today', async () => {
  const link = market()
  await frame('overview', 40, 10, link)
  link.broken = gone
  await open?.advance(12_000)
  expect(open?.text()).toContain('✗ daemon gone')
  expect(open?.text()).not.toMatch(/in today|trading|agree/)
})

describe('a daemon that is gone', () => {
  const lose = async (columns: number, rows: number, more: Partial<OpenOptions> = {}) => {
    const link = market()
    open = await openOn({ link, columns, rows, ...more })
    await open.advance(1_000)
    link.broken = gone
    await open.advance(12_000)
    return { ...open, link, shown: open.rows() }
  }

  it.each([
    [100, 30],
    [160, 50],
  ])('is told in a frame of its own at %i x %i', async (columns, rows) => {
    const { shown } = await lose(columns, rows, { lastWords: async () => '14:02:59 stopping, 0 payments in flight' })
    const all = shown.join('\n')
    expect(shown[0]).toMatch(/✗ daemon gone, \d+s {2}last answer 14:03:\d\d +tries again in \ds {2}14:03:\d\d/)
    expect(shown.at(-2)).toMatch(/^ ✗ The local daemon is not running\. {2}→ souk up/)
    expect(shown.at(-1)).toMatch(/^ U start it {2}\^R try now {2}9 last logs +\? help {2}q quit $/)
    expect(shown[2]).toMatch(/^─ Money today ─+ as of 14:03:\d\d, \d+s old ─/)
    expect(all).toMatch(
      /─ Open problems ─+[┤┼]?.*\n▌✗ daemon {3}The local daemon is not running; last stop .* \d+s {2}U start it/,
    )
    expect(all).toContain('           last log    14:02:59 stopping, 0 payments in flight')
    expect(all).toContain('           same as  souk restart')
    expect(all).toMatch(/─ Live ─.* ‖ stopped at 14:03:\d\d ─/)
    expect(all).not.toMatch(/● trading|● live|books agree|✓ agree/)
  })

  it('is started from the cockpit by what a shell would be told, after a question', async () => {
    const ran: string[][] = []
    const commandLine = {
      commands: [],
      split: () => [],
      complete: async () => [],
      run: async (words: readonly string[]) => {
        ran.push([...words])
        return { ok: true, value: 'It is up.' } as const
      },
    }
    const { type, text, until } = await lose(80, 24, { commandLine })
    await type('U')
    expect(text()).toContain('START THE DAEMON')
    expect(text()).toContain('same as  souk restart')
    expect(ran).toEqual([])
    await type('y')
    await until(() => text().includes('It is up.'))
    expect(ran).toEqual([['restart', '--no-input']])
  })

  it('that starts is not started again: U says how far it is', async () => {
    const { type, text, link, advance } = await lose(100, 30)
    link.broken = { ...gone, kind: 'starting', sentence: 'It is still starting.', facts: ['day 31 of 98'] }
    await advance(5_000).then(() => type('U'))
    expect(text()).toMatch(/○ starting.*It is still starting. day 31 of 98/s)
    expect(text()).not.toMatch(/START THE DAEMON|daemon gone|● trading/)
  })

  it('that runs is not started, nor one of another machine', async () => {
    const link = market({}, { name: 'prod', guarded: true, option: '-r prod' })
    open = await openOn({ link })
    await open.type('U')
    expect(open.text()).toContain('✓ The daemon is already running')
    link.broken = gone
    await open.advance(5_000)
    await open.type('U')
    expect(open.text()).toContain('✗ Only the local daemon can be started here.')
  })
})

it.each([100, 160])('the river of %i columns is cut nowhere', async (columns) => {
  const text = await frame('overview', columns, 50)
  for (const row of text.slice(3, 8)) expect(row).not.toContain('…')
})
