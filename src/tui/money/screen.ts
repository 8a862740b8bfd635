import { holdFields, participantFields, payeeFields, payoutFields } from '../../api/endpoint/list-fields.ts'
import type { Link } from '../../client/link.ts'
import { SOLD_DAYS } from '../../core/limits.ts'
import { amountOf } from '../../core/money.ts'
import { HOUR_MS } from '../../core/time.ts'
import { hold, payee, payout } from '../../nouns/money.ts'
import { person } from '../../nouns/people.ts'
import { clip, padEnd, padStart, shortAddress, span, widthOf } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { shownJob } from '../job/rows.ts'
import { listScreen } from '../list/nouns.ts'
import { AXIS_COLUMNS, bar, chart } from '../parts/charts.ts'
import { accent, bad, blank, dim, good, type Line, type Piece, placed, rule, strong, warn } from '../parts/line.ts'
import { onThePoint, shownMoney } from '../parts/river.ts'
import { jobIn, refuse, shellCommand, showToast, toItsJob } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { type ListedCron, nextRun } from '../shell/cron-facts.ts'
import { fetchRiver, fetchSeries, type Series } from '../shell/figures.ts'
import { viewWords } from '../shell/finding.ts'
import { fetchCrons, fetching, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text, time } from '../shell/read.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { after, chosenIndex, type MoneyView, moneyViews, unnarrowed } from '../shell/ui.ts'
import { booksLines } from './books.ts'
import { audit, type ChainHead, fetchChain, fetchCosts } from './rows.ts'

const id = 'money'
/** The views of money. Each is a list with its own hooks. */
const lists = {
  holds: listScreen({
    id,
    noun: hold,
    fields: holdFields,
    title: 'Held',
    asked: { sort: 'soonest' },
    order: 'soonest first',
  }),
  payouts: listScreen({ id, noun: payout, fields: payoutFields, title: 'Payouts' }),
  failed: listScreen({
    id,
    noun: payout,
    fields: payoutFields,
    title: 'Payouts that failed',
    asked: { status: 'failed' },
  }),
  payees: listScreen({ id, noun: payee, fields: payeeFields, title: 'Payees' }),
  balances: listScreen({
    id,
    noun: person,
    fields: participantFields,
    title: 'Balances',
    empty: { plural: 'balances', source: ['a buyer puts money in', 'souk balance deposit AMOUNT'] },
    asked: { filter: 'balance:>0', sort: '-balance' },
    order: 'largest first',
  }),
} satisfies Record<MoneyView, unknown>

export const screen: Screen = { title: 'Money', short: 'Mony', use: useMoney }

function useMoney(host: Host, view: View): ReturnType<Screen['use']> {
  const { moneyView } = view.ui
  const books = useQuery(fetchRiver(host.link), { name: 'river books', every: SLOW_EVERY_MS })
  const chain = useQuery(fetchChain(host.link), { name: 'chain head', every: SLOW_EVERY_MS })
  const costs = useQuery(fetchCosts(host.link), { name: 'chain costs', every: SLOW_EVERY_MS })
  const standing = useStanding(host.link)
  const crons = useQuery(fetchCrons(host.link), { name: 'crons', every: SLOW_EVERY_MS })
  const failed = useQuery(fetchFailedPayouts(host.link), { name: 'payouts failed', every: SLOW_EVERY_MS })
  const now = businessNow(useClock(host), view.now)
  const notes = bookNotes({ crons: crons.value?.crons, failed: failed.value, now })
  const useList = lists[moneyView]
  return useList(host, view, {
    within: moneyView === 'failed' ? moneyView : 'all',
    viewsOf: (total) => viewWords(Object.values(viewTitles), viewTitles[moneyView], { [viewTitles[moneyView]]: total }),
    tabs: [dim('e json')],
    above: ({ width, height }) => [
      ...booksLines(books, { width, height, keys: view.keys, notes }),
      ...chainLines(chain.value ?? null, costs.value ?? null, width),
    ],
    beside: (area) => standingLines(standing, { ...area, now }),
    actions: (rows: readonly object[], ids) => ({
      view: () => viewNext(host),
      audit: () => void check(host),
      itsJob: () => toItsJob(host, [JSON.stringify(rows[chosenIndex(host.ui.get(), ids)] ?? '')]),
      giveBack: () => giveBackOf(host, ids[chosenIndex(host.ui.get(), ids)] ?? ''),
    }),
    hintsOf: (row: object | undefined, account) => ({
      itsJob: jobIn([JSON.stringify(row)]) === undefined ? false : undefined,
      giveBack: heldJob(account) === undefined ? false : undefined,
    }),
  })
}

function viewNext({ ui }: Host): void {
  const now = ui.get()
  ui.set({ ...unnarrowed(now, 'money'), moneyView: after(moneyViews, now.moneyView) })
}

const heldJob = (account: string): string | undefined => /^esc:(job_.+)$/.exec(account)?.[1]

/** Opens the refund dialog of the job whose money is chosen. Only a job's money can be refunded. */
function giveBackOf(host: Host, account: string): void {
  const job = heldJob(account)
  if (job === undefined) refuse(host, 'Only money held for a job can be refunded.  → v held')
  else void import('../overview/mend.ts').then(({ giveBack }) => giveBack(host, job))
}

async function check(host: Host): Promise<void> {
  const answer = await audit(host.link)
  if (!answer.ok)
    refuse(host, `${answer.problem.sentence}  → ${answer.problem.next[0] ?? shellCommand(host, ['status'])}`)
  else if (answer.value.ok)
    showToast(host, { text: `✓ The books add up: ${answer.value.words}.`, tone: 'good', stays: false })
  else refuse(host, `The books do not add up.  → ${shellCommand(host, ['money', 'audit'])}   ${answer.value.words}`)
}

const chainSigns = { ok: good('✓'), degraded: warn('!'), down: bad('✗') } as const

/** State of the chain: its problem, or its newest block and queue; and what sales cost in gas. */
function chainLines(chain: ChainHead | null, costs: string | null, width: number): Line[] {
  if (chain === null) return []
  const room = Math.max(1, width - 10)
  const line: Line = [' ', chainSigns[chain.health], ` chain  ${clip(chain.fault || chain.words, room)}`]
  return costs === null ? [line] : [line, [`   gas    ${clip(costs, room)}`]]
}

const viewTitles: Readonly<Record<MoneyView, string>> = {
  holds: 'held',
  payouts: 'payouts',
  failed: 'failed',
  payees: 'earnings',
  balances: 'balances',
}

/** How many payouts failed, and the newest of them. */
type FailedPayouts = { readonly total: number; readonly to: string; readonly tries: number }

const fetchFailedPayouts = fetching(
  'getPayouts',
  { query: { status: 'failed', limit: '1' } },
  ({ payouts: [newest], total }): FailedPayouts => ({
    total,
    to: newest === undefined ? '' : shortAddress(newest.wallet),
    tries: newest?.attempts ?? 0,
  }),
)

type NextFacts = {
  readonly crons: readonly ListedCron[] | undefined
  readonly failed: FailedPayouts | undefined
  readonly now: number | undefined
}

/** Notes for the rows of the books: what happens to each row's money, and when. A note's longest form is first. */
function bookNotes({ crons = [], failed, now }: NextFacts): Readonly<Record<string, readonly string[]>> {
  const next = (name: string) =>
    nextRun(
      crons.find((cron) => cron.name === name),
      now,
    )
  const said = (words: string, at: string) => (at === NEVER ? [] : [`${words} ${at === 'now' ? at : `in ${at}`}`])
  return {
    balances: ['available to their owners'],
    'owed to providers': said('next settlement', next('provider-settlement')),
    'payouts under way': failedWords(failed),
    fees: said('next payout', next('splitter-distribute')),
    'referral money': said('next check', next('referral-rewards')),
    'kept back': ['of sanctioned wallets'],
  }
}

const NEVER = '—'

function failedWords(failed: FailedPayouts | undefined): readonly string[] {
  if (failed === undefined || failed.total === 0) return []
  if (failed.total > 1) return [`${failed.total} failed`]
  return [`1 failed, to ${failed.to}, tried ${failed.tries} times`, '1 failed']
}

type Searched = { readonly rows: number; readonly of: number } | undefined

/** Whether all rows were searched. If not, a larger value may exist. */
const isWhole = (searched: Searched) => searched === undefined || searched.rows >= searched.of

type Largest = { readonly who: string; readonly amount: string }

const fetchLargest = fetching(
  'listParticipants',
  { query: { filter: 'balance:>0', sort: '-balance', limit: '1' } },
  ({ participants: [one], searched }): Largest | null =>
    one === undefined || !isWhole(searched)
      ? null
      : { who: text(one.name) || one.id, amount: shownMoney(one.balance.available) },
)

type Oldest = { readonly since: number | undefined; readonly what: string; readonly amount: string }

const fetchOldest = fetching(
  'listAllJobs',
  { query: { filter: 'open:yes amount:>0', sort: '-age', limit: '1' } },
  ({ jobs: [one], searched }): Oldest | null => {
    if (one === undefined || !isWhole(searched)) return null
    const { service, amount } = shownJob(one)
    return { since: time(one.created_at), what: service, amount }
  },
)

type Beside = ReturnType<typeof useStanding>

/** A React hook. It fetches each figure separately, so that a failed request hides only that figure. */
function useStanding(link: Link) {
  const series = useQuery(fetchSeries(link, 'day'), { name: 'series day', every: SLOW_EVERY_MS })
  const sellers = useQuery(fetchTopSellers(link), { name: 'top sellers', every: SLOW_EVERY_MS })
  const largest = useQuery(fetchLargest(link), { name: 'largest balance', every: SLOW_EVERY_MS })
  const oldest = useQuery(fetchOldest(link), { name: 'oldest hold', every: SLOW_EVERY_MS })
  return { series: series.value, sellers: sellers.value, largest: largest.value ?? null, oldest: oldest.value ?? null }
}

const CHART_ROWS = 5
const CHART_ROWS_LEAST = 3

type Room = { readonly width: number; readonly height: number; readonly now: number | undefined }

function standingLines(standing: Beside, { width, height, now }: Room): Line[] {
  const { series, sellers } = standing
  if (series === undefined) return []
  const sold = sellers === undefined ? [] : [blank, ...sellerLines(sellers, width)]
  const facts = factLines(standing, { width, height, now })
  // If rows are scarce, those below the chart are dropped first, so that the chart stays readable.
  const below =
    [[...sold, blank, ...facts], sold, []].find((lines) => lines.length + CHART_ROWS_LEAST + 2 <= height) ?? []
  return [...paidInLines(series, { width, rows: Math.min(CHART_ROWS, height - 2 - below.length) }), ...below]
}

function hoursOf({ buckets }: Series): readonly { readonly at: number; readonly paid: number }[] {
  const sums = new Map<number, number>()
  for (const { at, paid_in } of buckets) {
    const hour = Math.floor(Date.parse(at) / HOUR_MS) * HOUR_MS
    sums.set(hour, (sums.get(hour) ?? 0) + Number(paid_in))
  }
  return [...sums].map(([at, paid]) => ({ at, paid }))
}

const BAR_COLUMNS_MAX = 2
/** Every third hour is labelled. */
const HOURS_TOLD = 3

function paidInLines(series: Series, { width, rows }: { readonly width: number; readonly rows: number }): Line[] {
  const room = Math.max(1, width - AXIS_COLUMNS)
  const all = hoursOf(series)
  const each = Math.max(1, Math.min(BAR_COLUMNS_MAX, Math.floor(room / Math.max(1, all.length))))
  const hours = all.slice(-Math.floor(room / each))
  const values = hours.flatMap(({ paid }) => Array.from({ length: each }, () => paid))
  const times = hours.flatMap(({ at }, i) => {
    const word = String(Number(clockTime(at).slice(0, 2)))
    const column = AXIS_COLUMNS + i * each
    return i % HOURS_TOLD === 0 && column + word.length <= width ? [[column, [dim(word)]] as const] : []
  })
  const title = rule(width, 'Paid in per hour, $', [dim(`last ${hours.length} h`)])
  if (values.every((paid) => paid === 0)) return [title, [dim(' none')]]
  return [title, ...chart(values, { width, height: Math.max(1, rows) }), placed(width, times)]
}

const NAME_COLUMNS = 18
const PERCENT = 100

function factLines({ largest, oldest, series }: Beside, { width, now }: Room): Line[] {
  const row = (name: string, who: string, ...more: Line): Line => {
    const room = Math.max(
      1,
      width - NAME_COLUMNS - more.reduce((sum, piece) => sum + widthOf(textOfPiece(piece)), 0) - 2,
    )
    return placed(width, [
      [1, [dim(name)]],
      [NAME_COLUMNS, [clip(who, room), ...more]],
    ])
  }
  const kept = series === undefined ? undefined : keptOf(series)
  return [
    ...(largest === null ? [] : [row('largest balance', largest.who, ' ', strong(largest.amount))]),
    ...(oldest === null || oldest.since === undefined || now === undefined
      ? []
      : [row('oldest hold', `${span(Math.max(0, now - oldest.since))}, ${oldest.what}`, ' ', strong(oldest.amount))]),
    ...(kept === undefined ? [] : [row('platform keeps', `${kept.toFixed(1)} % of sales in the last 24 h`)]),
  ]
}

const textOfPiece = (piece: Line[number]) => (typeof piece === 'string' ? piece : piece.text)

/** The platform's share of sales in percent. Undefined without sales. */
function keptOf({ buckets }: Series): number | undefined {
  const sum = (of: 'fees' | 'providers') => buckets.reduce((all, bucket) => all + amountOf(bucket[of]), 0n)
  const [fees, providers] = [sum('fees'), sum('providers')]
  return fees + providers === 0n ? undefined : (Number(fees) / Number(fees + providers)) * PERCENT
}

/** Sellers shown. */
const TOP_SELLERS = 3

/** A seller's recent sales, the amount ever paid out to it, and the amount still due, in decimal USDC. */
type TopSeller = { readonly name: string; readonly sold: string; readonly paid: string; readonly due: string }

const fetchTopSellers = fetching(
  'listPayees',
  { query: { filter: 'sold:>0', sort: '-sold', limit: String(TOP_SELLERS) } },
  ({ payees }) =>
    payees.map(({ name, wallet, sold, paid, due }) => ({ name: text(name) || shortAddress(wallet), sold, paid, due })),
)

const SELLER_NAME_COLUMNS = 16
const BAR_COLUMNS = 8

const titles = { sold: 'sold', paid: 'paid ever', due: 'due' } as const

/** The sum columns that fit. `paid ever` is dropped first. */
function columnsIn(sellers: readonly TopSeller[], width: number) {
  const place = (shown: readonly (keyof typeof titles)[]) => {
    const widths = shown.map((of) => {
      const cells = onThePoint(sellers.map((seller) => shownMoney(seller[of])))
      return Math.max(widthOf(titles[of]), ...cells.map(widthOf))
    })
    const ends = widths.map((_, i) => width - 2 - widths.slice(i + 1).reduce((sum, one) => sum + one + 2, 0))
    return { shown, widths, ends }
  }
  const all = place(['sold', 'paid', 'due'])
  const first = (all.ends[0] ?? 0) - (all.widths[0] ?? 0)
  return first > SELLER_NAME_COLUMNS + 2 + BAR_COLUMNS ? all : place(['sold', 'due'])
}

/** A bar for each seller, relative to the seller with the highest sales. */
function sellerLines(sellers: readonly TopSeller[], width: number): Line[] {
  const most = sellers.reduce((greatest, { sold }) => Math.max(greatest, Number(amountOf(sold))), 0)
  const { shown, widths, ends } = columnsIn(sellers, width)
  const columns = shown.map((of) => onThePoint(sellers.map((seller) => shownMoney(seller[of]))))
  const told = (row: readonly string[], tone: (words: string) => Piece) =>
    ends.map((end, i) => [end - (widths[i] ?? 0), [tone(padStart(row[i] ?? '', widths[i] ?? 0))]] as const)
  const title = `top sellers, ${SOLD_DAYS} days`
  const head = placed(width, [
    [1, [dim(title)]],
    ...told(
      shown.map((of) => titles[of]),
      dim,
    ),
  ])
  const lines = sellers.map(({ name, sold }, row) =>
    placed(width, [
      [1, [padEnd(clip(name, SELLER_NAME_COLUMNS), SELLER_NAME_COLUMNS)]],
      [SELLER_NAME_COLUMNS + 2, [accent(bar(most === 0 ? 0 : Number(amountOf(sold)) / most, BAR_COLUMNS))]],
      ...told(
        columns.map((cells) => cells[row] ?? ''),
        strong,
      ),
    ]),
  )
  return [head, ...(lines.length === 0 ? [[dim(' no recent sales')]] : lines)]
}
