import { useMemo } from 'react'
import type { Asked } from '../../client/asked.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Facts, ListFields } from '../../core/filter.ts'
import { compact } from '../../core/record.ts'
import type { ScreenId } from '../../model/words.ts'
import { columnsIn, type NounColumn, type Toned, textOf } from '../../nouns/columns.ts'
import { type ListName, type Noun, type NounFact, type NounPage, rowsOf } from '../../nouns/noun.ts'
import { count, padEnd, safe, widthOf, wrap } from '../../text/text.ts'
import { zonedTime } from '../../text/time.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { blank, dim, type Line, type Piece, rule, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import { columnsAt, type ScreenColumn } from '../parts/table.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import {
  amongWords,
  emptyLines,
  findingOf,
  listAsked,
  listHead,
  listTable,
  narrowed,
  sortActions,
  useSettled,
} from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, type ShownList, sliceWords } from '../shell/pane.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Fetch, type Query, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'

const PAGE = 50

/** A page of rows. `among` says how many rows were searched, if not all. */
export type NounRows<R> = { readonly rows: readonly R[]; readonly total: number; readonly among?: string }

/** What differs between list screens. */
export type ListScreen<R> = {
  readonly id: ScreenId
  readonly noun: Noun<R>
  /** Fields to filter and sort by. */
  readonly fields: ListFields
  readonly title: string
  /** Words of an empty list, where those of the noun are wrong. */
  readonly empty?: Pick<Noun<R>, 'plural' | 'source'>
  /** Filter that always applies, and the default order. */
  readonly asked?: { readonly filter?: string; readonly sort?: string; readonly status?: string }
  /** Describes the default sort order. */
  readonly order?: string
  /** The caller's own list, shown in place of the operator's list. The cockpit filters its rows. */
  readonly own?: {
    readonly factsOf: (row: R) => Facts
    readonly fetch: (link: Link, wanted: ListWish, ui: Ui) => Fetch<NounRows<R>>
  }
  /** Hook that fetches more about the chosen row, and returns a function that draws it. */
  readonly useMore?: (host: Host, row: R | undefined) => (width: number) => readonly Line[]
}

/** Parts per draw. */
export type ListParts<R> = {
  /** Part of the query's name. Lists that fetch different data need different keys. */
  readonly key?: string
  /** The view, where views have different rows; `all` has all of them. */
  readonly within?: string
  /** @param total - number of rows, undefined if unknown */
  readonly views: (total: number | undefined) => Line
  /** Shown at the right end of the drawer's title. */
  readonly tabs: Line
  /** Whether the drawer shows JSON. */
  readonly isRaw?: boolean
  readonly actions: (rows: readonly R[], ids: readonly string[]) => Face['actions']
  readonly above?: (area: ScreenArea) => readonly Line[]
  /** Drawn beside the list if there is room. The drawer is then below the list. */
  readonly beside?: (area: ScreenArea) => readonly Line[]
}

const plainParts = { views: () => [], tabs: [], actions: () => ({}) }

export type ListWish = { readonly page: number; readonly filter: string; readonly sort: string | undefined }

/** Fetches a page of the operator's list. */
const fetchRows =
  <R>(link: Link, { noun: { list }, fields, asked: always = {} }: ListScreen<R>, wanted: ListWish) =>
  (signal: AbortSignal): Promise<Outcome<NounRows<R>>> => {
    const page = { limit: String(PAGE), offset: String(wanted.page * PAGE) }
    // Only values that the endpoint accepts are sent.
    const typed = listAsked(wanted, fields)
    const filter = [always.filter, typed.filter].filter(Boolean).join(' ')
    const query = { ...page, ...always, ...typed, ...(filter === '' ? {} : { filter }) }
    return ask(link, { name: list as ListName, asked: { query, signal } as Asked<ListName> }, (found: NounPage) => ({
      rows: rowsOf<R>(found),
      total: found.total,
      among: amongWords(found.searched),
    }))
  }

/** Creates the hook of a list screen. Without `parts` it shows only list and drawer. */
export function listScreen<R extends object>(screen: ListScreen<R>) {
  const { id: where, noun, fields, own, useMore = useNothing } = screen
  const columns = columnsAt<R>((now) => screenColumns(noun, now))
  return function useList(host: Host, view: View, parts: ListParts<R> = plainParts): ReturnType<Screen['use']> {
    const { ui, area } = view
    const { filter, sort, problem } = findingOf(ui, where, fields)
    const wanted = { page: ui.pages[where] ?? 0, filter: useSettled(filter, host.clock), sort }
    const fetchPage = (wish: ListWish) =>
      own === undefined ? fetchRows(host.link, screen, wish) : own.fetch(host.link, wish, ui)
    const name = `${where} ${parts.key ?? ''} ${noun.plural} ${JSON.stringify(wanted)}`
    const listed = useQuery(fetchPage(wanted), { name, every: SLOW_EVERY_MS })
    const now = businessNow(useClock(host), view.now)
    const narrow = (found: readonly R[]) =>
      own === undefined ? found : narrowed(found, { filter, sort, problem }, { ...own, fields, now: now ?? view.now })
    const rows = narrow(listed.value?.rows ?? [])
    const ids = rows.map(noun.idOf)
    const rowsOf = (page: NounRows<R>) => narrow(page.rows)
    const paged = {
      total: listed.value?.total,
      size: PAGE,
      fetch: (page: number) => fetchPage({ ...wanted, page }),
      rowsOf,
    }
    const chosen = chosenIndex(ui, ids)
    const row = rows[chosen]
    const more = useMore(host, row)
    const isRaw = ui.pane.open === 'raw'
    const raw = useMemo(() => (isRaw && row !== undefined ? jsonLines(row) : undefined), [isRaw, row])
    const open = ui.pane.open === 'full' && row !== undefined ? wholeLines(noun, row, { width: area.width, now }) : raw
    const model: Model<R> = { ...screen, ...parts, more, columns: columns(now), listed, rows, chosen, open, now, view }
    return {
      ids,
      problem,
      list: listOf({ columns: columns(now), rows, idOf: noun.idOf, paged }),
      draw: (at) => listLines(model, at),
      actions: {
        ...pageActions(host, listed.value?.total ?? 0, PAGE),
        ...paneActions(host, open, area),
        ...sortActions(host, where, fields),
        ...parts.actions(rows, ids),
      },
    }
  }
}

type Model<R> = ShownList &
  ListScreen<R> &
  ListParts<R> & {
    readonly columns: ReturnType<typeof screenColumns<R>>
    readonly listed: Query<NounRows<R>>
    readonly more: (width: number) => readonly Line[]
    readonly rows: readonly R[]
  }

function listLines<R extends object>(model: Model<R>, area: ScreenArea): Line[] {
  const { noun, rows, chosen, open, view } = model
  const row = rows[chosen]
  if (open !== undefined && row) return openLines(open, { title: noun.idOf(row), scroll: view.ui.pane.scroll }, area)
  const side = sideOf(area.width)
  const { height } = area
  const right =
    side === 0 ? [] : (model.beside?.({ width: side, height }) ?? (row ? drawerLines(model, row, side) : []))
  if (right.length === 0) return listedLines(model, area)
  const split = area.width - side - 1
  return joinedPanels(listedLines(model, { width: split, height }), right, { width: area.width, split, height })
}

/** Draws the list and the lines above it. Also draws the drawer, unless the drawer is beside the list. */
function listedLines<R extends object>(model: Model<R>, area: ScreenArea): Line[] {
  const { noun, columns, listed, rows, chosen, view } = model
  const { width } = area
  const row = rows[chosen]
  const head = [...(model.above?.(area) ?? []), ...headLines(model, width)]
  if (listed.value === undefined) return [...head, ...waitingLines(listed, width)]
  if (row === undefined) return [...head, ...(model.above ? [] : [blank]), ...whyEmpty(model, width)]
  const list = { columns, rows, idOf: noun.idOf, chosen, width }
  if (model.beside === undefined && sideOf(view.area.width) > 0) {
    const table = listTable(view.ui, { ...list, height: area.height - head.length - 1 })
    return [...head, table.head, ...table.body]
  }
  const share = model.useMore === undefined ? DRAWER_SHARE : WIDE_DRAWER_SHARE
  const room = Math.max(DRAWER_ROWS, Math.floor(area.height / share))
  const drawer = drawerLines(model, row, width).slice(0, room)
  const height = Math.max(1, Math.min(rows.length, area.height - head.length - 1 - drawer.length))
  const table = listTable(view.ui, { ...list, height })
  return [...head, table.head, ...table.body, ...drawer]
}

const DRAWER_ROWS = 7
const DRAWER_SHARE = 3
const WIDE_DRAWER_SHARE = 2
const useNothing = () => () => []

function drawerLines<R>({ noun, tabs, isRaw, more }: Model<R>, row: R, width: number): Line[] {
  const known = isRaw ? jsonLines(row) : [...more(width), ...factLines(noun.facts?.(row) ?? [], width)]
  return [rule(width, noun.idOf(row), tabs), ...known]
}

function headLines<R>({ id, title, noun, own, order, listed, rows, views, view }: Model<R>, width: number): Line[] {
  const { ui, now, keys } = view
  const isNarrowed = own !== undefined && Boolean(ui.filters[id])
  const total = isNarrowed ? rows.length : (listed.value?.total ?? 0)
  return listHead(width, {
    title,
    place: sliceWords({ offset: (ui.pages[id] ?? 0) * PAGE, rows: rows.length, total }),
    stale: staleness(listed, now),
    views: views(ui.filters[id] ? undefined : listed.value?.total),
    ui,
    screen: id,
    keys,
    order: order ?? noun.order ?? 'newest first',
    note: listed.value?.among ? [warn(`! ${listed.value.among}   `)] : [],
  })
}

function whyEmpty<R>({ id, noun, empty, within, view: { ui } }: Model<R>, width: number): Line[] {
  return emptyLines({ ...noun, ...empty }, { view: within, filter: ui.filters[id], width })
}

/** All facts of a row, shown in place of the list. */
function wholeLines<R>(noun: Noun<R>, row: R, { width, now }: { width: number; now: number | undefined }): Line[] {
  const state = noun.stateOf?.(row, now)
  return [
    [dim(' name        '), strong(shown(noun.nameOf(row)))],
    ...(state === undefined ? [] : [[dim(' state       '), state]]),
    ...factLines(noun.facts?.(row) ?? [], width),
  ]
}

const ISO_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** Sanitised text, with its times in the display zone. */
function shown(text: string): string {
  return safe(text).replace(ISO_TIME, (time) => zonedTime(Date.parse(time)))
}

function piece(value: Toned | number | null | undefined): Piece {
  if (value === null || value === undefined || value === '') return '—'
  if (typeof value === 'number') return count(value)
  return typeof value === 'string' ? shown(value) : { ...value, text: shown(value.text) }
}

const looks: Readonly<Record<NounColumn<unknown>['kind'], Omit<ScreenColumn<never>, 'title' | 'value' | 'drop'>>> = {
  id: { exact: true },
  state: {},
  name: { min: 12 },
  word: { min: 8 },
  money: { align: 'right', exact: true },
  count: { align: 'right' },
  time: {},
  age: { align: 'right' },
}
/** Ids are dropped before all other columns. */
const ID_DROP = 9

/** The columns of a noun on a screen. The state comes first, the id last. */
export function screenColumns<R>(noun: Noun<R>, now: number | undefined): readonly ScreenColumn<R>[] {
  const { stateOf } = noun
  const columns = columnsIn(noun.columns, 'screen').filter(({ kind }) => kind !== 'state')
  const [ids, others] = [columns.filter(({ kind }) => kind === 'id'), columns.filter(({ kind }) => kind !== 'id')]
  const status = noun.columns.find(({ kind }) => kind === 'state')
  const state: ScreenColumn<R>[] =
    stateOf === undefined
      ? []
      : [{ title: 'STATE', value: (row) => piece(stateOf(row, now)), plain: status && plainOf(status, now) }]
  return [...state, ...[...others, ...ids].map((column) => screenColumn(column, now))]
}

/** The value of a column for programs, without signs. */
function plainOf<R>(column: NounColumn<R>, now: number | undefined): NonNullable<ScreenColumn<R>['plain']> {
  return (row) => {
    if (column.plain) return column.plain(row)
    const shown = textOf(column.value(row, now))
    return typeof shown === 'string' ? shown.replace(/^(?:→ |\$)/, '') : shown
  }
}

function screenColumn<R>(column: NounColumn<R>, now: number | undefined): ScreenColumn<R> {
  const { title, all = title, kind, value, min, drop = kind === 'id' ? ID_DROP : undefined } = column
  const plain = (row: R) => piece(value(row, now))
  const worded = (row: R, tone: typeof dim) => {
    const one = plain(row)
    return typeof one === 'string' ? tone(one) : one
  }
  const toned = { money: (row: R) => worded(row, strong), id: (row: R) => worded(row, dim) }
  return {
    ...looks[kind],
    title: all,
    value: kind === 'money' || kind === 'id' ? toned[kind] : plain,
    plain: plainOf(column, now),
    ...compact({ drop, min }),
  }
}

const LABEL_COLUMNS = 13

/** Facts, wrapped to the width. A value without blanks is shown whole or not at all. */
function factLines(facts: readonly NounFact[], width: number): Line[] {
  const room = Math.max(1, width - LABEL_COLUMNS - 2)
  return facts
    .map(([label, words]) => [label, shown(words)] as const)
    .filter(([, words]) => words !== '' && (words.includes(' ') || widthOf(words) <= room))
    .flatMap(([label, words]) =>
      wrap(words, room).map((part, i): Line => [dim(` ${padEnd(i === 0 ? label : '', LABEL_COLUMNS - 1)}`), part]),
    )
}
