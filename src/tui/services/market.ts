import { useMemo } from 'react'
import { deadlineSpan, padEnd, shortSpan, widthOf, wrap } from '../../text/text.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { blank, dim, type Line, type Piece, rule, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import { columnsAt, type ScreenColumn } from '../parts/table.ts'
import { refuse } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { findingOf, listHead, listTable, sortActions, titlesOf, useSettled, viewWords } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, type ShownList, sliceWords } from '../shell/pane.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'
import {
  fetchMarket,
  MARKET_PAGE,
  type MarketList,
  type MarketRow,
  type MarketView,
  marketFields,
} from './market-rows.ts'
import { type Shop, shopActions, shopWords, useShop } from './shop.ts'

/** A hook: plans, subscriptions, requests or products of everybody, with what is known of the chosen one. */
export function useMarket(host: Host, view: View): ReturnType<Screen['use']> {
  const shown = view.ui.shopView === 'services' ? 'plans' : view.ui.shopView
  const { ui, area } = view
  const fields = marketFields[shown]
  const { filter, sort, problem } = findingOf(ui, 'services', fields)
  const which = { view: shown, page: ui.pages.services ?? 0, filter: useSettled(filter, host.clock), sort }
  const name = `market ${JSON.stringify(which)}`
  const listed = useQuery(fetchMarket(host.link, which), { name, every: SLOW_EVERY_MS })
  const shop = useShop(host, view)
  const now = businessNow(useClock(host), view.now)
  const rows = listed.value?.rows ?? []
  const ids = rows.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const row = rows[chosen]
  const isRaw = ui.pane.open === 'raw'
  const raw = useMemo(() => (isRaw && row !== undefined ? jsonLines(row.raw) : undefined), [isRaw, row])
  const open = ui.pane.open === 'full' && row !== undefined ? wholeLines(row, area.width) : raw
  const model: Model = { shown, listed, rows, chosen, open, shop, now, view }
  return {
    ids,
    problem,
    columns: titlesOf(columns[shown](now)),
    draw: (at) => marketLines(model, at),
    actions: {
      ...pageActions(host, listed.value?.total ?? 0, MARKET_PAGE),
      ...paneActions(host, open, area),
      ...sortActions(host, 'services', fields),
      ...shopActions(host, view),
      ...tabActions(host),
      testHook: () => refuse(host, 'Only a listing has an endpoint to test.  → v services'),
    },
  }
}

type Model = ShownList & {
  readonly shown: MarketView
  readonly listed: Query<MarketList>
  readonly rows: readonly MarketRow[]
  readonly shop: Shop
}

function marketLines(model: Model, area: ScreenArea): Line[] {
  const { shown, listed, rows, chosen, open, now, view } = model
  const row = rows[chosen]
  if (open !== undefined && row) return openLines(open, { title: row.id, scroll: view.ui.pane.scroll }, area)
  const side = sideOf(area.width)
  const width = side === 0 ? area.width : area.width - side - 1
  const head = headLines(model, width)
  if (listed.value === undefined) return [...head, ...waitingLines(listed, area.width)]
  if (row === undefined) return [...head, blank, [dim(emptyWords(model))]]
  const list = { columns: columns[shown](now), rows, idOf: ({ id }: MarketRow) => id, chosen, width }
  if (side > 0) {
    const table = listTable(view.ui, { ...list, height: area.height - 3 })
    const right = [...drawerHead(row, view.ui, side), ...drawerLines(row, view.ui, side)].slice(0, area.height)
    return joinedPanels([...head, table.head, ...table.body], right, {
      width: area.width,
      split: width,
      height: area.height,
    })
  }
  const room = Math.max(DRAWER_ROWS, Math.floor(area.height / DRAWER_SHARE))
  const drawer = [...drawerHead(row, view.ui, width), ...drawerLines(row, view.ui, width)].slice(0, room)
  const table = listTable(view.ui, {
    ...list,
    height: Math.max(1, Math.min(rows.length, area.height - 3 - drawer.length)),
  })
  return [...head, table.head, ...table.body, ...drawer]
}

const tabs = ['about', 'json'] as const

/** Of the tabs that a listing has, these have the others too. */
function tabOf({ serviceTab }: Ui): (typeof tabs)[number] {
  return serviceTab === 'json' ? 'json' : 'about'
}

function tabActions({ ui }: Host): Face['actions'] {
  const turn = () => ui.set({ ...ui.get(), serviceTab: tabOf(ui.get()) === 'json' ? 'about' : 'json' })
  return { nextTab: turn, previousTab: turn }
}

function drawerHead({ id }: MarketRow, ui: Ui, width: number): Line[] {
  return [rule(width, id, viewWords(tabs, tabOf(ui)).slice(1))]
}

function drawerLines(row: MarketRow, ui: Ui, width: number): readonly Line[] {
  return tabOf(ui) === 'json' ? jsonLines(row.raw) : factLines(row, width)
}

/** Under the list the chosen one has so many rows, or a part of the height. */
const DRAWER_ROWS = 7
const DRAWER_SHARE = 3

function headLines({ shown, listed, rows, shop, view: { ui, now, keys } }: Model, width: number): Line[] {
  const total = listed.value?.total
  return listHead(width, {
    title: titles[shown],
    place: sliceWords({ offset: (ui.pages.services ?? 0) * MARKET_PAGE, rows: rows.length, total: total ?? 0 }),
    stale: staleness(listed, now),
    views: shopWords(shown, shop),
    ui,
    screen: 'services',
    keys,
    order: 'newest first',
  })
}

const titles: Readonly<Record<MarketView, string>> = {
  plans: 'Plans',
  subscriptions: 'Subscriptions',
  requests: 'Requests for work',
  products: 'Products',
}

const none: Readonly<Record<MarketView, string>> = {
  plans: ' no plan is offered: v shows the others',
  subscriptions: ' nobody is subscribed: v shows the others',
  requests: ' nobody asks for work: v shows the others',
  products: ' no product is there: v shows the others',
}

function emptyWords({ shown, view: { ui } }: Model): string {
  return ui.filters.services ? ' nothing matches: esc clears it' : none[shown]
}

type Columns = (now: number | undefined) => readonly ScreenColumn<MarketRow>[]

const state: ScreenColumn<MarketRow> = { title: 'STATE', value: ({ state: word }) => word }
const nameIn = (title: string): ScreenColumn<MarketRow> => ({ title, value: ({ name }) => name, min: 12 })
const whoIn = (title: string): ScreenColumn<MarketRow> => ({ title, value: ({ who }) => who, min: 8, drop: 3 })
const kindIn = (title: string): ScreenColumn<MarketRow> => ({ title, value: ({ kind }) => dim(kind), min: 5, drop: 4 })
const manyIn = (title: string): ScreenColumn<MarketRow> => ({
  title,
  value: ({ many }) => many,
  align: 'right',
  drop: 2,
})
const amountIn = (title: string): ScreenColumn<MarketRow> => ({
  title,
  value: ({ amount }) => strong(amount),
  align: 'right',
  exact: true,
})
const idIn = (title: string): ScreenColumn<MarketRow> => ({ title, value: ({ id }) => dim(id), exact: true, drop: 5 })
const age = (now: number | undefined): ScreenColumn<MarketRow> => ({
  title: 'AGE',
  value: ({ createdAt }) => ageOf(createdAt, now),
  align: 'right',
  drop: 1,
})
const next = (now: number | undefined): ScreenColumn<MarketRow> => ({
  title: 'NEXT',
  value: (row) => nextWord(row, now),
  min: 8,
  drop: 1,
})

const columns: Readonly<Record<MarketView, Columns>> = {
  plans: columnsAt((now) => [
    nameIn('PLAN'),
    whoIn('PROVIDER'),
    kindIn('EVERY'),
    amountIn('BUYER PAYS'),
    manyIn('SUBSCRIBED'),
    age(now),
    idIn('ID'),
  ]),
  subscriptions: columnsAt((now) => [
    state,
    nameIn('PLAN'),
    whoIn('SUBSCRIBER → PROVIDER'),
    amountIn('AMOUNT'),
    kindIn('EVERY'),
    manyIn('PAID'),
    next(now),
    age(now),
    idIn('ID'),
  ]),
  requests: columnsAt((now) => [
    state,
    nameIn('TITLE'),
    whoIn('ASKED BY'),
    kindIn('CATEGORY'),
    amountIn('BUDGET'),
    manyIn('BIDS'),
    next(now),
    age(now),
    idIn('ID'),
  ]),
  products: columnsAt((now) => [
    state,
    nameIn('PRODUCT'),
    whoIn('PROVIDER'),
    kindIn('CATEGORY'),
    amountIn('BUYER PAYS'),
    manyIn('SOLD'),
    age(now),
    idIn('ID'),
  ]),
}

function ageOf(at: number | undefined, now: number | undefined): string {
  return at === undefined || now === undefined ? '—' : shortSpan(Math.max(0, now - at))
}

/** What happens by itself and when: `is charged in 12d`; what should have happened is told in the colour of trouble. */
function nextWord({ next: words, nextAt }: MarketRow, now: number | undefined): Piece {
  if (nextAt === undefined || now === undefined) return dim('—')
  return nextAt < now
    ? warn(`${words}, due ${shortSpan(now - nextAt)} ago`)
    : `${words} in ${deadlineSpan(nextAt - now)}`
}

const LABEL_COLUMNS = 13

function factLines({ facts }: MarketRow, width: number): Line[] {
  const room = Math.max(1, width - LABEL_COLUMNS - 2)
  // An address is there whole or not at all.
  return facts
    .filter(([, words]) => words !== '' && (words.includes(' ') || widthOf(words) <= room))
    .flatMap(([label, words]) =>
      wrap(words, room).map((part, i): Line => [dim(` ${padEnd(i === 0 ? label : '', LABEL_COLUMNS - 1)}`), part]),
    )
}

/** All there is to know, in place of the list. */
function wholeLines(row: MarketRow, width: number): Line[] {
  return [
    [dim(` ${padEnd('name', LABEL_COLUMNS - 1)}`), strong(row.name)],
    [' '.repeat(LABEL_COLUMNS), row.state],
    ...factLines(row, width),
  ]
}
