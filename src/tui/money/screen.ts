import { useMemo } from 'react'
import { shortSpan, wrap } from '../../text/text.ts'
import { businessNow, useClock } from '../crons/screen.ts'
import { fetchSeries, type SeriesFacts } from '../overview/facts.ts'
import { chart } from '../parts/charts.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { bad, dim, type Line, type Piece, rule, spread, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { refuse, showToast } from '../shell/ask.ts'
import { findingOf, listTable, sortActions, sortedWords, titlesOf, typedWords } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, type ShownList, sliceWords } from '../shell/pane.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type MoneyView, moneyViews, type Ui } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { useSettled } from '../shell/use-settled.ts'
import { type BooksFacts, booksLines } from './books.ts'
import { audit, fetchBooks, fetchMoney, MONEY_PAGE, type Money, moneyFields, type Waiting } from './rows.ts'

/** A hook: money that waits for something, and whether the books add up. */
export function useMoney(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const fields = moneyFields[ui.moneyView]
  const { filter, sort, problem } = findingOf(ui, 'money', fields)
  const which = { view: ui.moneyView, page: ui.pages.money ?? 0, filter: useSettled(filter, host.clock), sort }
  const money = useQuery(fetchMoney(host.link, which), { name: `money ${JSON.stringify(which)}`, every: SLOW_EVERY_MS })
  const books = useQuery(fetchBooks(host.link), { name: 'river books', every: SLOW_EVERY_MS })
  const series = useQuery(fetchSeries(host.link, 'day'), { name: 'series day', every: SLOW_EVERY_MS })
  const rows = money.value?.rows ?? []
  const ids = rows.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const shown = ui.pane.open === 'beside' ? undefined : rows[chosen]
  const raw = useMemo(() => (shown === undefined ? undefined : jsonLines(shown.raw)), [shown])
  const now = businessNow(useClock(host), view.now)
  const { raw: toggleRaw, open: _open, ...moving } = paneActions(host, raw, area)
  return {
    ids,
    problem,
    columns: titlesOf(columnsOf(ui.moneyView, now)),
    draw: (at) => moneyLines({ money, books, series, rows, chosen, open: raw, now, view }, at),
    actions: {
      ...pageActions(host, money.value?.total ?? 0, MONEY_PAGE),
      ...sortActions(host, 'money', fields),
      ...moving,
      ...(toggleRaw ? { raw: toggleRaw } : {}),
      view: () => viewNext(host),
      audit: () => void check(host),
    },
  }
}

function viewNext({ ui }: Host): void {
  const { moneyView, pages, sorts } = ui.get()
  const next = moneyViews[(moneyViews.indexOf(moneyView) + 1) % moneyViews.length]
  // What the one is sorted by, the other may not have.
  if (next !== undefined)
    ui.set({ ...ui.get(), moneyView: next, pages: { ...pages, money: 0 }, sorts: { ...sorts, money: undefined } })
}

async function check(host: Host): Promise<void> {
  const answer = await audit(host.link)
  if (!answer.ok)
    refuse(host, `${answer.problem.sentence}  → ${answer.problem.next[0] ?? shellCommand(host, ['status'])}`)
  else if (answer.value.ok)
    showToast(host, { text: `✓ The books add up: ${answer.value.words}.`, tone: 'good', stays: false })
  else refuse(host, `The books do not add up.  → ${shellCommand(host, ['money', 'audit'])}   ${answer.value.words}`)
}

type Model = ShownList & {
  readonly money: Query<Money>
  readonly books: Query<BooksFacts>
  readonly series: Query<SeriesFacts>
  readonly rows: readonly Waiting[]
}

function moneyLines(model: Model, area: ScreenArea): Line[] {
  const { money, rows, chosen, open, now, view } = model
  const row = rows[chosen]
  if (open !== undefined && row) return openLines(open, { title: row.id, scroll: view.ui.pane.scroll }, area)
  const head = [
    ...topLines(model, area),
    rule(area.width, titles[view.ui.moneyView], [dim(placeOf(model))]),
    statusLine(model, area.width),
  ]
  if (money.value === undefined) return [...head, ...waitingLines(money, area.width)]
  if (row === undefined) return [...head, [dim(emptyWords(view.ui))]]
  const drawer = drawerLines(row, area.width)
  const height = Math.max(1, area.height - head.length - 1 - drawer.length)
  const list = { columns: columnsOf(view.ui.moneyView, now), rows, idOf: ({ id }: Waiting) => id, chosen }
  const table = listTable(view.ui, { ...list, width: area.width, height })
  return [...head, table.head, ...table.body, ...drawer]
}

/** The books, with what came in by the hour beside them where there is room. */
function topLines({ books, series, view: { keys } }: Model, { width, height }: ScreenArea): Line[] {
  const side = sideOf(width)
  if (side === 0 || series.value === undefined) return booksLines(books, { width, height, keys })
  const split = width - side - 1
  const left = booksLines(books, { width: split, height, keys })
  const paid = series.value.buckets.map(({ paid_in }) => Number(paid_in))
  const drawn = chart(paid, { width: side, height: left.length - 1 })
  const right = [rule(side, 'Paid in, $ a quarter of an hour', [dim('last 24 h')]), ...drawn]
  return joinedPanels(left, right, { width, split, height: left.length })
}

const titles: Readonly<Record<MoneyView, string>> = {
  holds: 'Held',
  payouts: 'Payouts',
  failed: 'Payouts that failed',
  payees: 'Payees',
}

function emptyWords({ filters, moneyView }: Ui): string {
  if (filters.money) return ' nothing matches: esc clears it'
  if (moneyView === 'payees') return ' nobody sells anything yet'
  return moneyView === 'holds' ? ' nothing is held' : ' there is none: v shows the others'
}

/** Which rows of how many the table shows. */
function placeOf({ money, rows, view: { ui } }: Model): string {
  return sliceWords({ offset: (ui.pages.money ?? 0) * MONEY_PAGE, rows: rows.length, total: money.value?.total ?? 0 })
}

const ERROR_LINES_MAX = 3

function drawerLines({ id, owner, amount, state, error }: Waiting, width: number): Line[] {
  const errors = error === '' ? [] : wrap(error, width - 2).slice(0, ERROR_LINES_MAX)
  return [
    rule(width, id, [dim('e json')]),
    [` ${amount}  `, dim(owner), `  ${state}`],
    ...errors.map((words): Line => [' ', bad(words)]),
  ]
}

function statusLine({ money, view: { ui, now } }: Model, width: number): Line {
  const views = moneyViews.flatMap((name): Piece[] => [' ', name === ui.moneyView ? strong(`[${name}]`) : dim(name)])
  const stale = staleness(money, now)
  const order = ui.sorts.money === undefined ? [dim('as they came')] : sortedWords(ui, 'money').slice(0, -1)
  return spread(width, [...views, typedWords(ui, 'money')], [...(stale ? [warn(`! ${stale}  `)] : []), ...order, ' '])
}

function columnsOf(view: MoneyView, now: number | undefined): readonly ScreenColumn<Waiting>[] {
  const state: ScreenColumn<Waiting> = {
    title: 'STATE',
    value: ({ state: words, isBad }) => (isBad ? bad(`✗ ${words}`) : words),
    min: 12,
  }
  const left: ScreenColumn<Waiting> = { title: 'LEFT', value: ({ nextAt }) => leftWord(nextAt, now), align: 'right' }
  if (view === 'payees') return [...payeeColumns, { ...state, title: 'WHY', drop: 1 }, left]
  return [
    { title: 'WHAT', value: ({ id }) => id, exact: true },
    { title: 'WHOSE', value: ({ owner }) => owner, exact: true, drop: 2 },
    { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right', exact: true },
    state,
    { title: 'NEXT', value: ({ next }) => next || '—', drop: 1 },
    left,
  ]
}

const payeeColumns: readonly ScreenColumn<Waiting>[] = [
  { title: 'PAYEE', value: ({ owner }) => owner, min: 8 },
  { title: 'PAID', value: ({ paid = '' }) => paid, align: 'right', exact: true },
  { title: 'DUE', value: ({ amount }) => strong(amount), align: 'right', exact: true },
  { title: 'HELD', value: ({ held = '' }) => held, align: 'right', exact: true },
  { title: 'ID', value: ({ id }) => dim(id), exact: true, drop: 2 },
]

function leftWord(at: number | undefined, now: number | undefined): string {
  if (at === undefined || now === undefined) return '—'
  return at < now ? `-${shortSpan(now - at)}` : shortSpan(at - now)
}
