import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WireAnswer } from '../api/index.ts'
import { readAnswer } from '../client/call.ts'
import { amountOf, formatAmount } from '../core/money.ts'
import { attentionRows } from '../nouns/attention.ts'
import { widthOf } from '../text/text.ts'
import { commands, decides, moneyLacks, pauses, runsCron, writes } from './acts.testkit.ts'
import { callsLacks, panelOf, pulseLacks, riverLacks, sidesOf, type Told } from './drawn.testkit.ts'
import {
  ages,
  attemptSays,
  cronSays,
  doorSays,
  jobSays,
  named,
  requestSays,
  says,
  sentSays,
  serviceSays,
  threadSays,
} from './facts.testkit.ts'
import { shownMoney } from './parts/river.ts'
import type { Recorded } from './recorded.testkit.ts'
import { tmuxVersion } from './tmux.testkit.ts'
import { feedLacks, happened } from './told.testkit.ts'
import {
  agree,
  ask,
  both,
  businessNow,
  closeMarket,
  FIRST,
  json,
  type Lacks,
  list,
  openMarket,
  PAGE,
  SIZES,
  souk,
  TRADES,
  terminalOf,
  terminals,
  up,
  watched,
  words,
} from './walk.testkit.ts'

/*
 * The built program in real terminals of every size, against one marketplace with three months of trade and people who
 * go on trading: what each screen says is what the interface answers, and what is done there is done.
 */
import { type OpenJobs, stripLacks, workLacks } from './worked.testkit.ts'

// @deep cockpits in real terminals of every size

const tmux = await tmuxVersion()

beforeAll(() => (tmux === undefined ? undefined : openMarket(process.env.PATH)))
afterAll(() => (tmux === undefined ? undefined : closeMarket()))

const jobsOf = (filter: string) =>
  list(async () => {
    const { jobs } = await ask('listAllJobs', { query: `?limit=50&sort=worst&filter=${filter}` })
    expect(jobs.length).toBeGreaterThan(0)
    const now = await businessNow()
    return jobs.map((job) => jobSays(job, now))
  })

type Request = WireAnswer<'listRequests'>['requests'][number]

/** Purchases without the prices that were asked for them, each with the length of its story. */
function purchasesOf(isWanted: (request: Request) => boolean): Lacks {
  return list(async () => {
    const { requests } = await ask('listRequests', { query: '?limit=500' })
    const purchases = requests.filter((one) => one.path.includes('purchase') && isWanted(one)).toReversed()
    const paid = new Set(purchases.map(({ offer_id }) => offer_id))
    const rows = purchases.filter(({ id }) => !paid.has(id))
    expect(rows.length).toBeGreaterThan(0)
    return Promise.all(
      rows.slice(0, TOLD).map(async (one) => {
        const { steps } = await ask('getRequestStory', { id: one.id })
        return requestSays(one, steps.length)
      }),
    )
  })
}

/** Rows of the largest terminal, and then some. */
const TOLD = 50

/** What is typed, and what stands there then. */
const places: readonly (readonly [typed: string, lacks: Lacks])[] = [
  [
    '2',
    both(
      words(async () => [`of ${(await ask('getCatalog', FIRST)).total}`]),
      list(async () => (await ask('listAllServices', { query: '?limit=50&sort=-sold' })).services.map(serviceSays)),
    ),
  ],
  ['3', jobsOf('open:yes')],
  ['vv', jobsOf('status:disputed')],
  [
    '4vvv',
    both(
      words(async () => {
        const { total, threads } = await ask('listAllThreads', FIRST)
        return [`of ${total}`, threads[0]?.id ?? '']
      }),
      list(async () => {
        const now = await businessNow()
        return (await ask('listAllThreads', PAGE)).threads.map((one) => threadSays(one, now))
      }),
    ),
  ],
  [
    '5',
    both(
      words(async () => {
        const { length } = (await ask('listCrons')).crons
        return ['─ Crons ─', `${length} of ${length}`]
      }),
      list(async () => {
        const now = await businessNow()
        return (await ask('listCrons')).crons.map((one) => cronSays(one, now))
      }, false),
    ),
  ],
  [
    '6',
    words(async () => {
      const doors = (await ask('getHealth')).endpoints
      return [`all ${doors.length}`, new RegExp(`paid ${doors.filter(({ price }) => price !== 'free').length}\\b`)]
    }),
  ],
  [
    // The operator's own rows are called by whoever looks at them.
    '/path:v1/ !path:admin\r',
    list(async () => {
      const { endpoints: figures } = await ask('getEndpointFigures', { query: '?hours=24' })
      const doors = (await ask('getHealth')).endpoints
      expect(figures.filter(({ path }) => path.startsWith('/v1/')).length).toBeGreaterThan(0)
      return doors.map((door) =>
        doorSays(
          door,
          figures.find(({ method, path }) => method === door.method && path === door.path),
        ),
      )
    }, false),
  ],
  ['7', moneyLacks],
  [
    '8',
    both(
      words(async () => {
        const { total } = await ask('listVerifications', FIRST)
        const { sdn } = await ask('listSanctions', FIRST)
        return [`Identity checks ${total}`, `${sdn.total}, ${sdn.manual_only} of them by hand`]
      }),
      list(async () => {
        const now = await businessNow()
        return (await ask('listVerifications', PAGE)).attempts.map((one) => attemptSays(one, now))
      }, false),
    ),
  ],
  ['9/path:purchase\r', purchasesOf(() => true)],
  [
    'v/path:purchase\r',
    purchasesOf(({ status, receipt_id, code }) => status === 200 && receipt_id !== null && code === null),
  ],
  ['vv', list(async () => (await ask('getWebhooks', { query: '?limit=100' })).deliveries.map(sentSays))],
  ['vvv', words(async () => ['[everything]', 'level info or above'])],
  ['1', overviewLacks],
]

async function overviewSays(): Promise<readonly (string | RegExp)[]> {
  const river = await ask('getRiver')
  const { total } = await ask('getAttention')
  expect(river.held_jobs).toBeGreaterThan(0)
  const open = await Promise.all(
    (['in_progress', 'disputed'] as const).map(async (status) => {
      const { total: jobs } = await ask('listAllJobs', { query: `?status=${status}&limit=1` })
      const word = status === 'disputed' ? 'disputed' : 'at work'
      return new RegExp(`\\b${jobs} ${word}|${word} +${jobs}\\b`)
    }),
  )
  const sums = [river.held, river.paid_in].map((amount) => `${shownMoney(amount)} `)
  return [...sums, `${total} problem${total === 1 ? '' : 's'}`, ...open]
}

/** What was passed on, part by part; a low terminal says it in one sum. */
async function passedOnLacks(screen: readonly string[]): Promise<readonly string[]> {
  const { providers, fees, refunds } = await ask('getRiver')
  const parts = [providers, fees, refunds]
  const sum = formatAmount(parts.reduce((all, one) => all + amountOf(one), 0n))
  const text = screen.join('\n')
  const wanted = / passed on/.test(text)
    ? [`${shownMoney(sum)} passed on`]
    : parts.map((amount) => `${shownMoney(amount)} `)
  return wanted.filter((one) => !text.includes(one))
}

/** The first screen, of every size. */
function overviewLacks(screen: readonly string[]): Promise<readonly string[]> {
  return both(both(words(overviewSays), passedOnLacks), inboxLacks)(screen)
}

/** Each line of the inbox names who, how much where there is room, and since when. */
async function inboxLacks(screen: readonly string[]): Promise<readonly string[]> {
  const told = attentionRows(await ask('getAttention'))
  const now = await businessNow()
  const from = screen.findIndex((line) => line.startsWith('─ Open problems')) + 1
  const rows = screen.slice(from).map((line) => line.split(/[│├┤]/)[0] ?? '')
  const body = rows.slice(
    0,
    rows.findIndex((line) => /^─|^ {3}/.test(line)),
  )
  if (body.length === 0) return ['a line of the inbox']
  return told.slice(0, body.length).flatMap(({ item: { who, kind, subject, since, amount } }, i) => {
    const line = body[i] ?? ''
    const name = named(who) || (kind === 'cron' ? subject.id : '—')
    const isTold = says(line, name) && (since === null || says(line, ages(since, now)))
    const isWhole = amount === null || !line.includes('$') || line.includes(shownMoney(amount))
    return isTold && isWhole ? [] : [`${name}, ${amount} since ${since} in ${line}`]
  })
}

/** The last is as high as the feed is long. */
const PICTURES = [
  [80, 24],
  [100, 30],
  [160, 50],
  [160, 250],
] as const

/** What the pictures and the feed of the overview lack of what this very cockpit was answered. */
function pictureLacks(seen: Recorded, width: number): Lacks {
  return async (screen) => {
    const series = await readAnswer('getSeries', seen.answer('/dashboard/api/admin/series?span=hour'))
    const river = await readAnswer('getRiver', seen.answer('/dashboard/api/admin/river'))
    const events = happened(seen.events() as Told[])
    const sides = sidesOf(screen, width)
    const [left] = sides
    const pulse = sides.flatMap((side) => {
      const panel = panelOf(side.rows, 'Pulse')
      return panel.length === 0 ? [] : pulseLacks(panel, side.width, series)
    })
    const open = Object.fromEntries(
      await Promise.all(
        (['created', 'dispatched', 'in_progress', 'disputed'] as const).map(async (status) => {
          const path = `/dashboard/api/admin/jobs?status=${status}&limit=1`
          return [status, (await readAnswer('listAllJobs', seen.answer(path))).total] as const
        }),
      ),
    ) as OpenJobs // each of the four
    const { crons } = await readAnswer('listCrons', seen.answer('/dashboard/api/admin/crons'))
    const last = sides.at(-1)
    const beside =
      sides.length === 1 || last === undefined
        ? []
        : [
            ...workLacks(panelOf(last.rows, 'Work'), last.width, { open, river }),
            ...stripLacks(panelOf(last.rows, 'Crons'), crons),
          ]
    const live = screen.findIndex((row) => row.startsWith('─ Live'))
    const feed = screen.slice(live + 1, -1).filter((row) => row.trim() !== '')
    const calls = panelOf(left.rows, 'API calls')
    return [
      ...riverLacks(panelOf(left.rows, 'Money today'), river),
      ...pulse,
      ...beside,
      ...(sides.length === 1 ? [] : callsLacks(calls, series)),
      ...feedLacks(feed, events, width),
      ...(feed.length < screen.length - live - 2 && feed.length !== events.length ? [`${events.length} events`] : []),
    ]
  }
}

/** Goes through every screen; nothing is wider or lower than the terminal. */
async function looksAround([columns, height]: (typeof SIZES)[number]): Promise<void> {
  const terminal = terminalOf(columns)
  for (const [typed, lacks] of places) {
    for (const part of typed.split(/(\r)/)) await (part === '\r' ? terminal.press('Enter') : terminal.type(part))
    const shown = await agree(terminal, lacks)
    expect(shown).toHaveLength(height)
    for (const row of shown) expect(widthOf(row)).toBeLessThanOrEqual(columns)
    if (typed.includes('/')) {
      await terminal.press('Escape')
      await terminal.miss('/path:')
    }
  }
}

describe.skipIf(tmux === undefined)('in a terminal', () => {
  it('of every size every screen says what the interface answers', async () =>
    void (await Promise.all(SIZES.map(looksAround))))

  it.each(PICTURES)(
    'of %i x %i pictures and sentences are what the interface answered to it',
    async (columns, height) => {
      const { terminal, seen, close } = await watched(columns, height)
      try {
        await souk('seed', 'traffic', ...TRADES)
        await agree(
          terminal,
          words(async () => [/\d\d:\d\d:\d\d ●/]),
        )
        seen.freeze()
        await agree(terminal, pictureLacks(seen, columns))
      } finally {
        await close()
      }
    },
  )

  it('of every size what people trade meanwhile comes by itself', async () => {
    for (const terminal of terminals.values()) await terminal.type('1')
    await souk('seed', 'traffic', ...TRADES)
    await Promise.all([...terminals.values()].map((terminal) => agree(terminal, overviewLacks)))
  })

  describe.each(SIZES)('of %i x %i', (columns) => {
    it('a dispute is found in the inbox and decided, and its money moves', () => decides(terminalOf(columns)))

    it('what is typed behind : is a command of the shell', () => commands(terminalOf(columns)))

    it('P pauses and unpauses, and /health agrees', () => pauses(terminalOf(columns)))

    it('R runs a cron', () => runsCron(terminalOf(columns)))

    it('i writes a message', () => writes(terminalOf(columns), `is it ${columns} wide`))
  })

  it('of every size a killed daemon is no longer trading, and up again it is', async () => {
    const all = [...terminals.values()]
    for (const terminal of all) await terminal.type('1')
    await Promise.all(all.map((terminal) => terminal.see('● trading')))
    process.kill((await json('status')).pid, 'SIGKILL')
    await Promise.all(all.map((terminal) => terminal.see('✗ daemon gone')))
    await Promise.all(all.map((terminal) => terminal.miss('● trading')))
    await up()
    await Promise.all(all.map((terminal) => terminal.see('● trading')))
    await Promise.all(all.map((terminal) => agree(terminal, overviewLacks)))
  })
})
