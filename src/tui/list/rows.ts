import type { Asked } from '../../client/asked.ts'
import type { Link } from '../../client/link.ts'
import type { Facts, ListFields } from '../../core/filter.ts'
import { compact } from '../../core/record.ts'
import { type ListName, type Noun, type NounPage, rowsOf } from '../../nouns/noun.ts'
import type { ScreenId } from '../../nouns/screens.ts'
import { count } from '../../text/text.ts'
import { columnsAt, type ScreenColumn } from '../parts/line.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import {
  amongWords,
  type Wish as Finding,
  findingOf,
  listAsked,
  narrowed,
  pageOf,
  sortActions,
  useSettled,
} from '../shell/finding.ts'
import { pageActions } from '../shell/pane.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Fetch, ONCE_MS, type Query, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { Face, Host, Screen, View } from '../shell/screen.ts'
import { after, chosenIndex, type Ui } from '../shell/ui.ts'
import { screenColumns } from './columns.ts'

type FoundRows<R> = Omit<ShownRows<R>, 'chosen' | 'row' | 'face'> & {
  readonly problem: string | undefined
  /** How other pages are fetched. Undefined if there are none. */
  readonly paged?: Parameters<typeof listOf<R & object, NounRows<R>>>[0]['paged']
  /** Index of the chosen row (default: by the user's choice alone). */
  readonly chosenIn?: typeof chosenIndex
}

/** The chosen one of the rows that were found, and what can be done with them. */
export function facedRows<R extends object>(host: Host, { ui }: View, found: FoundRows<R>): ShownRows<R> {
  const { problem, paged, chosenIn = chosenIndex, ...shown } = found
  const { list, columns, rows } = shown
  const { idOf } = list.noun
  const ids = rows.map(idOf)
  const chosen = chosenIn(ui, ids)
  const actions = { ...sortActions(host, list.id, list.fields), ...viewAction(host, list) }
  const face = { ids, problem, list: listOf({ columns, rows, idOf, ...compact({ paged }) }), actions }
  return { ...shown, chosen, row: rows[chosen], face }
}

type LocalRows<R> = Omit<FoundRows<R>, 'rows' | 'problem'> & {
  readonly all: readonly R[]
  readonly factsOf: (row: R) => Facts
}

/** The rows of a list that the cockpit has whole, so that it filters and sorts them itself. */
export function localRows<R extends object>(
  host: Host,
  view: View,
  { all, factsOf, ...local }: LocalRows<R>,
): ShownRows<R> {
  const { id, fields } = local.list
  const finding = findingOf(view.ui, id, fields)
  const rows = narrowed(all, finding, { fields, factsOf, now: local.now ?? view.now })
  return facedRows(host, view, { ...local, rows, total: rows.length, problem: finding.problem })
}

const fetchPage =
  <R>(link: Link, { name, query }: { name: ListName; query: object }): Fetch<NounRows<R>> =>
  (signal) =>
    ask(link, { name, asked: { query, signal } as Asked<ListName> }, (found: NounPage) => ({
      rows: rowsOf<R>(found),
      total: found.total,
      among: amongWords(found.searched),
    }))

/** A list that its endpoint cannot filter or sort is searched on this many of its newest pages. */
const SEARCHED_PAGES = 10

/** Fetches the newest pages of a list as one. */
const fetchNewest =
  <R>(pageAt: (page: number) => Fetch<NounRows<R>>): Fetch<NounRows<R>> =>
  async (signal) => {
    let rows: readonly R[] = []
    for (let at = 0; ; at += 1) {
      const answer = await pageAt(at)(signal)
      if (!answer.ok) return answer
      const { total } = answer.value
      rows = [...rows, ...answer.value.rows]
      if (rows.length >= total || answer.value.rows.length === 0) return { ok: true, value: { rows, total } }
      const among = `the newest ${count(rows.length)} of ${count(total)} searched`
      if (at + 1 === SEARCHED_PAGES) return { ok: true, value: { rows, total, among } }
    }
  }

/** Which page to fetch (from 0), of which view, and its filter and sort. */
type Wish = Pick<Finding, 'filter' | 'sort'> & {
  readonly page: number
  readonly view: string
  readonly isOwn: boolean
  readonly ui: Ui
}

function alwaysIn<R>({ views, asked = {} }: ListRows<R>, view: string): AlwaysAsked {
  return views?.asked?.[view] ?? asked
}

function filterIn<R>(list: ListRows<R>, view: string, typed: string): string {
  return [alwaysIn(list, view).filter, typed].filter(Boolean).join(' ')
}

function isOwn<R>({ own }: ListRows<R>, { where }: View): boolean {
  return own !== undefined && (own.always === true || where?.admin === false)
}

/** The endpoint of one's own list cannot filter or sort, so the cockpit does. */
function isNarrowed<R>(list: ListRows<R>, { view, filter, sort, ...wish }: Wish): boolean {
  return wish.isOwn && (filterIn(list, view, filter) !== '' || sort !== undefined)
}

function fetchRows<R>(link: Link, list: ListRows<R>, wish: Wish): Fetch<NounRows<R>> {
  const { view, page, ui } = wish
  const { own } = list
  if (wish.isOwn && own) {
    const pageAt = (at: number) =>
      fetchPage<R>(link, { name: own.list, query: { ...pageOf(at, PAGE), ...own.asked?.(wish.filter, ui) } })
    return isNarrowed(list, wish) ? fetchNewest(pageAt) : pageAt(page)
  }
  const filter = filterIn(list, view, wish.filter)
  // Only values that the endpoint accepts are sent.
  const asked = { ...pageOf(page, PAGE), ...alwaysIn(list, view), ...listAsked(wish, list.fields) }
  const query = filter === '' ? asked : { ...asked, filter }
  return fetchPage<R>(link, { name: list.noun.list, query })
}

/** Creates the hook that fetches the rows of a list, a page at a time. */
export function listRows<R extends object>(list: ListRows<R>) {
  const { id: where, noun, fields, own } = list
  const columnsOf = columnsAt<R>((now) => screenColumns(noun, now))
  return function useRows(host: Host, view: View, every = SLOW_EVERY_MS): ShownRows<R> {
    const { ui } = view
    const finding = findingOf(ui, where, fields)
    const wish: Wish = {
      page: ui.pages[where] ?? 0,
      filter: useSettled(finding.filter, host.clock),
      sort: finding.sort,
      view: viewIn(list, ui),
      isOwn: isOwn(list, view),
      ui,
    }
    const fetchIn = (more: Partial<Wish>) => fetchRows(host.link, list, { ...wish, ...more })
    const name = `${where} ${noun.plural} ${JSON.stringify([list.asked, { ...wish, ui: undefined }])}`
    const listed = useQuery(fetchIn({}), { name, every })
    const elsewhere = useElsewhere(list, { wish, name, found: listed.value }, fetchIn)
    const now = businessNow(useClock(host), view.now)
    const filter = filterIn(list, wish.view, finding.filter)
    const here = own && { fields, factsOf: (row: R) => own.factsOf(row, now), now: now ?? view.now }
    const rowsIn = ({ rows }: Pick<NounRows<R>, 'rows'>) => {
      if (wish.isOwn && here) return narrowed(rows, { ...finding, filter }, here)
      return list.compare && finding.sort === undefined ? rows.toSorted(list.compare) : rows
    }
    const rows = rowsIn(listed.value ?? { rows: [] })
    const isWhole = isNarrowed(list, wish)
    const { total: all, among } = listed.value ?? {}
    const total = isWhole && listed.value ? rows.length : all
    const paged = isWhole
      ? undefined
      : { total, size: PAGE, fetch: (page: number) => fetchIn({ page }), rowsOf: rowsIn }
    const found = { list, columns: columnsOf(now), rows, total, among, listed, elsewhere, now, ...compact({ paged }) }
    const shown = facedRows(host, view, { ...found, problem: finding.problem })
    const actions = { ...pageActions(host, total ?? 0, PAGE), ...shown.face.actions }
    return { ...shown, face: { ...shown.face, actions } }
  }
}

type Missed = { readonly wish: Wish; readonly name: string; readonly found: { readonly total: number } | undefined }

/** Hook that returns the other views in which the filter matches, in words. Empty if this view has matches. */
function useElsewhere<R>(
  { views }: ListRows<R>,
  { wish, name, found }: Missed,
  fetchIn: (more: Partial<Wish>) => Fetch<NounRows<R>>,
): string {
  const isMissed = !wish.isOwn && wish.filter !== '' && found?.total === 0
  const others = isMissed ? (views?.all ?? []).filter((other) => other !== wish.view) : []
  const fetch = fetchTotals(others, (other) => fetchIn({ view: other, page: 0 }))
  return useQuery(fetch, { name: `elsewhere ${others.length} ${name}`, every: ONCE_MS }).value ?? ''
}

/** Fetches how many rows the views have that have any, in words. */
const fetchTotals =
  (views: readonly string[], fetchIn: (view: string) => Fetch<{ readonly total: number }>): Fetch<string> =>
  async (signal) => {
    const all = await Promise.all(views.map(async (view) => ({ view, found: await fetchIn(view)(signal) })))
    const known = all.flatMap(({ view, found }) =>
      found.ok && found.value.total > 0 ? [{ view, ...found.value }] : [],
    )
    return { ok: true, value: known.map(({ view, total }) => `${count(total)} in ${view}`).join(', ') }
  }

/** The action of `v`: the next view. */
function viewAction({ ui }: Host, { id, views }: Pick<ListRows<never>, 'id' | 'views'>): Face['actions'] {
  if (views === undefined) return {}
  const { at, all } = views
  return {
    view() {
      const now = ui.get()
      ui.set({ ...now, [at]: after<string>(all, now[at]), pages: { ...now.pages, [id]: 0 } })
    },
  }
}

export const PAGE = 50

/** A page of rows. `among` says how many rows were searched, if not all. */
type NounRows<R> = { readonly rows: readonly R[]; readonly total: number; readonly among?: string }

/** Filter that always applies, and the default order. */
type AlwaysAsked = { readonly filter?: string; readonly sort?: string; readonly status?: string }

/** A list of the cockpit: which rows it has, and how they are fetched. */
export type ListRows<R> = {
  readonly id: ScreenId
  readonly noun: Omit<Noun<R>, 'list' | 'none'> & { readonly list: ListName }
  readonly fields: ListFields
  readonly asked?: AlwaysAsked
  /** Order of a page if the user has chosen none (default: that of the endpoint). */
  readonly compare?: (one: R, other: R) => number
  /** The views of the list. */
  readonly views?: {
    readonly all: readonly string[]
    /** The member of the cockpit's state that holds the chosen view. */
    readonly at: 'jobView' | 'threadView' | 'requestView' | 'endpointView'
    /** What each view asks for, as `asked`. */
    readonly asked?: Readonly<Record<string, AlwaysAsked>>
  }
  /** The list that is shown without the admin key. The cockpit filters its rows. */
  readonly own?: {
    /** Shown with the admin key, too. */
    readonly always?: true
    readonly factsOf: (row: R, now: number | undefined) => Facts
    readonly list: ListName
    /** What the endpoint itself can narrow by. */
    readonly asked?: (filter: string, ui: Ui) => object
  }
}

/** The rows that a list shows now. */
export type ShownRows<R> = {
  readonly list: Pick<ListRows<R>, 'id' | 'views' | 'fields'> & {
    readonly noun: Pick<Noun<R>, 'idOf'> & Partial<Pick<Noun<R>, 'name' | 'plural' | 'order' | 'source'>>
  }
  readonly rows: readonly R[]
  readonly chosen: number
  readonly row: R | undefined
  readonly columns: readonly ScreenColumn<R>[]
  readonly listed: Query<unknown>
  /** How many rows were searched, if not all. */
  readonly among?: string | undefined
  /** Number of rows on all pages. */
  readonly total?: number | undefined
  /** Other views in which the filter matches, such as `2 in done, 2 in all`. Empty if this view has matches. */
  readonly elsewhere?: string
  readonly now?: number | undefined
  /** What every list does. */
  readonly face: Omit<ReturnType<Screen['use']>, 'draw'> & { readonly actions: Face['actions'] }
}

/** The chosen view. Empty if the list has none. */
export function viewIn({ views }: Pick<ListRows<never>, 'views'>, ui: Ui): string {
  return views === undefined ? '' : ui[views.at]
}
