import { useMemo } from 'react'
import type { Link } from '../../client/link.ts'
import { clip, deadlineSpan, shortAddress, shortSpan, wrap } from '../../text/text.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { bad, dim, good, type Line, type Piece, rule, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { refuse, showToast, toItsJob } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { type CronFacts, nextRun } from '../shell/cron-facts.ts'
import { findingOf, listHead, listTable, sortActions, titlesOf, useSettled, viewWords } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, type ShownList, sliceWords } from '../shell/pane.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask, fetchCrons, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type MoneyView, moneyViews, type Ui } from '../shell/ui.ts'
import { type BooksFacts, booksLines } from './books.ts'
import {
  audit,
  type ChainHead,
  fetchBooks,
  fetchChain,
  fetchMoney,
  MONEY_PAGE,
  type Money,
  moneyFields,
  type Waiting,
} from './rows.ts'
import { type Beside, standingLines, useStanding } from './standing.ts'

/** A hook: money that waits for something, and whether the books add up. */
export function useMoney(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const fields = moneyFields[ui.moneyView]
  const { filter, sort, problem } = findingOf(ui, 'money', fields)
  const which = { view: ui.moneyView, page: ui.pages.money ?? 0, filter: useSettled(filter, host.clock), sort }
  const money = useQuery(fetchMoney(host.link, which), { name: `money ${JSON.stringify(which)}`, every: SLOW_EVERY_MS })
  const books = useQuery(fetchBooks(host.link), { name: 'river books', every: SLOW_EVERY_MS })
  const chain = useQuery(fetchChain(host.link), { name: 'chain head', every: SLOW_EVERY_MS })
  const standing = useStanding(host.link)
  const crons = useQuery(fetchCrons(host.link), { name: 'crons', every: SLOW_EVERY_MS })
  const failed = useQuery(fetchFailedPayouts(host.link), { name: 'payouts failed', every: SLOW_EVERY_MS })
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
    draw: (at) =>
      moneyLines(
        {
          ...{ money, books, chain: chain.value ?? null, standing, rows, chosen, open: raw, now, view },
          ...{ told: { crons: crons.value?.crons, failed: failed.value, now } },
        },
        at,
      ),
    actions: {
      ...pageActions(host, money.value?.total ?? 0, MONEY_PAGE),
      ...sortActions(host, 'money', fields),
      ...moving,
      ...(toggleRaw ? { raw: toggleRaw } : {}),
      view: () => viewNext(host),
      audit: () => void check(host),
      itsJob: () => itsJob(host, rows[chosenIndex(host.ui.get(), ids)]),
      giveBack: () => giveBackOf(host, rows[chosenIndex(host.ui.get(), ids)]),
    },
  }
}

function itsJob(host: Host, row: Waiting | undefined): void {
  toItsJob(host, row === undefined ? [] : [row.id, JSON.stringify(row.raw)])
}

function viewNext({ ui }: Host): void {
  const { moneyView, pages, sorts } = ui.get()
  const next = moneyViews[(moneyViews.indexOf(moneyView) + 1) % moneyViews.length]
  // What the one is sorted by, the other may not have.
  if (next !== undefined)
    ui.set({ ...ui.get(), moneyView: next, pages: { ...pages, money: 0 }, sorts: { ...sorts, money: undefined } })
}

/** What is held for a job; other money is nobody's who could have it back. */
function giveBackOf(host: Host, row: Waiting | undefined): void {
  const job = /^esc:(job_.+)$/.exec(row?.id ?? '')?.[1]
  if (job === undefined) refuse(host, 'Only what is held for a job can be given back.  → v held')
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

type Model = ShownList & {
  readonly money: Query<Money>
  readonly books: Query<BooksFacts>
  readonly chain: ChainHead | null
  readonly standing: Beside
  readonly told: NextFacts
  readonly rows: readonly Waiting[]
}

function moneyLines(model: Model, area: ScreenArea): Line[] {
  const { rows, chosen, open, now, view } = model
  const row = rows[chosen]
  if (open !== undefined && row) return openLines(open, { title: row.id, scroll: view.ui.pane.scroll }, area)
  const side = sideOf(area.width)
  const right = side === 0 ? [] : standingLines(model.standing, { width: side, height: area.height, now })
  if (right.length === 0) return listedLines(model, area)
  const split = area.width - side - 1
  const left = listedLines(model, { width: split, height: area.height })
  return joinedPanels(left, right, { width: area.width, split, height: area.height })
}

/** The books over the list, and under it what is chosen. */
function listedLines(model: Model, { width, height }: ScreenArea): Line[] {
  const { money, books, rows, chosen, now, view } = model
  const row = rows[chosen]
  const top = booksLines(books, { width, height, keys: view.keys, notes: bookNotes(model.told) })
  const head = [...top, ...chainLines(model.chain, width), ...listLines(model, width)]
  if (money.value === undefined) return [...head, ...waitingLines(money, width)]
  if (row === undefined) return [...head, [dim(emptyWords(view.ui))]]
  const drawer = drawerLines(row, width)
  const room = Math.max(1, height - head.length - 1 - drawer.length)
  const list = { columns: columnsOf(view.ui.moneyView, now), rows, idOf: ({ id }: Waiting) => id, chosen }
  const table = listTable(view.ui, { ...list, width, height: room })
  return [...head, table.head, ...table.body, ...drawer]
}

const chainSigns = { ok: good('✓'), degraded: warn('!'), down: bad('✗') } as const

/** Where the money moves: the head of the chain and its queue, or what is wrong there. */
function chainLines(chain: ChainHead | null, width: number): Line[] {
  if (chain === null) return []
  return [[' ', chainSigns[chain.health], ` chain  ${clip(chain.fault || chain.words, Math.max(1, width - 10))}`]]
}

const titles: Readonly<Record<MoneyView, string>> = {
  holds: 'Held',
  payouts: 'Payouts',
  failed: 'Payouts that failed',
  payees: 'Payees',
  balances: 'Balances',
}

function emptyWords({ filters, moneyView }: Ui): string {
  if (filters.money) return ' nothing matches: esc clears it'
  if (moneyView === 'payees') return ' nobody sells anything yet'
  return moneyView === 'holds' ? ' nothing is held' : ' there is none: v shows the others'
}

const ERROR_LINES_MAX = 3

function drawerLines({ id, owner, what, amount, state, error }: Waiting, width: number): Line[] {
  const errors = error === '' ? [] : wrap(error, width - 2).slice(0, ERROR_LINES_MAX)
  return [
    rule(width, id, [dim('e json')]),
    [` ${amount}  `, dim(owner), '  ', what, '  ', state],
    ...errors.map((words): Line => [' ', bad(words)]),
  ]
}

/** What the views are called. */
const viewTitles: Readonly<Record<MoneyView, string>> = {
  holds: 'held',
  payouts: 'payouts',
  failed: 'failed',
  payees: 'earnings',
  balances: 'balances',
}

function listLines({ money, rows, view: { ui, now, keys } }: Model, width: number): Line[] {
  const total = money.value?.total
  const offset = (ui.pages.money ?? 0) * MONEY_PAGE
  const current = viewTitles[ui.moneyView]
  const counts = total === undefined || ui.filters.money ? undefined : { [current]: total }
  return listHead(width, {
    title: titles[ui.moneyView],
    place: sliceWords({ offset, rows: rows.length, total: total ?? 0 }),
    stale: staleness(money, now),
    views: viewWords(Object.values(viewTitles), current, counts),
    ui,
    screen: 'money',
    keys,
    order: orders[ui.moneyView],
    note: money.value?.among ? [warn(`! ${money.value.among}   `)] : [],
  })
}

/** Of an unsorted list. */
const orders: Readonly<Record<MoneyView, string>> = {
  holds: 'soonest first',
  payouts: 'newest first',
  failed: 'newest first',
  payees: 'newest first',
  balances: 'largest first',
}

function columnsOf(view: MoneyView, now: number | undefined): readonly ScreenColumn<Waiting>[] {
  const state: ScreenColumn<Waiting> = { title: 'STATE', value: ({ state: word }) => word, min: 11 }
  const next: ScreenColumn<Waiting> = { title: 'NEXT', value: (row) => nextWord(row, now), min: NEXT_COLUMNS_MIN }
  if (view === 'balances') return balanceColumns
  if (view === 'payees') return [...payeeColumns, { ...state, title: 'WHY', drop: 1 }, next]
  return [
    state,
    {
      title: view === 'holds' ? 'BUYER / PROVIDER' : 'TO',
      value: ({ owner }) => clip(owner, OWNER_COLUMNS_MAX),
      min: 14,
    },
    { title: 'WHAT', value: ({ what }) => what, min: 16, drop: 2 },
    { title: 'AMOUNT', value: ({ amount }) => strong(amount), align: 'right', exact: true },
    next,
    { title: view === 'holds' ? 'ACCOUNT' : 'PAYOUT', value: ({ id }) => dim(id), exact: true, drop: 3 },
  ]
}

const OWNER_COLUMNS_MAX = 28
/** `goes back in 2h 5m`: what happens next goes before the whole id, which the drawer has too. */
const NEXT_COLUMNS_MIN = 18

const balanceColumns: readonly ScreenColumn<Waiting>[] = [
  { title: 'OWNER', value: ({ owner }) => clip(owner, OWNER_COLUMNS_MAX), min: 8 },
  { title: 'BALANCE', value: ({ amount }) => strong(amount), align: 'right', exact: true },
  { title: 'BEING PAID', value: ({ held = '' }) => held, align: 'right', exact: true },
  { title: 'STATE', value: ({ state }) => state, drop: 1 },
  { title: 'ID', value: ({ id }) => dim(id), exact: true, drop: 2 },
]

const payeeColumns: readonly ScreenColumn<Waiting>[] = [
  { title: 'PAYEE', value: ({ owner }) => owner, min: 8 },
  { title: 'PAID', value: ({ paid = '' }) => paid, align: 'right', exact: true },
  { title: 'DUE', value: ({ amount }) => strong(amount), align: 'right', exact: true },
  { title: 'HELD', value: ({ held = '' }) => held, align: 'right', exact: true },
  { title: 'ID', value: ({ id }) => dim(id), exact: true, drop: 2 },
]

/** What happens by itself and when: `goes back in 58m`; what should have happened is told in the colour of trouble. */
function nextWord({ next, nextAt }: Waiting, now: number | undefined): Piece {
  if (nextAt === undefined || now === undefined) return next === '' ? dim('—') : warn(next)
  if (nextAt < now) return warn(`${next}, due ${shortSpan(now - nextAt)} ago`)
  return `${next} in ${deadlineSpan(nextAt - now)}`
}

/** Payouts that failed: how many, and what is known of the newest. */
export type FailedPayouts = { readonly total: number; readonly to: string; readonly tries: number }

export const fetchFailedPayouts = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'getPayouts', asked: { query: { status: 'failed', limit: '1' }, signal } },
    ({ payouts: [newest], total }): FailedPayouts => ({
      total,
      to: newest === undefined ? '' : shortAddress(newest.wallet),
      tries: newest?.attempts ?? 0,
    }),
  )

export type NextFacts = {
  readonly crons: readonly CronFacts[] | undefined
  readonly failed: FailedPayouts | undefined
  /** Business time. */
  readonly now: number | undefined
}

/** What happens next with the money of a row of the books, by the row's name; longer ways to say it first. */
export function bookNotes({ crons = [], failed, now }: NextFacts): Readonly<Record<string, readonly string[]>> {
  const next = (name: string) => nextRun(crons.find((cron) => cron.name === name) ?? NOWHERE, now)
  const said = (words: string, at: string) => (at === NEVER ? [] : [`${words} ${at === 'now' ? at : `in ${at}`}`])
  return {
    balances: ['spendable by their owners'],
    'owed to providers': said('next settlement', next('provider-settlement')),
    'payouts under way': failedWords(failed),
    fees: said('next payout', next('splitter-distribute')),
    'referral money': said('next look', next('referral-rewards')),
    'kept back': ['of sanctioned wallets'],
  }
}

const NOWHERE = { more: undefined }
const NEVER = '—'

function failedWords(failed: FailedPayouts | undefined): readonly string[] {
  if (failed === undefined || failed.total === 0) return []
  if (failed.total > 1) return [`${failed.total} failed`]
  return [`1 failed, to ${failed.to}, tried ${failed.tries} times`, '1 failed']
}
