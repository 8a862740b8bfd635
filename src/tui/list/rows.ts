import type { Asked } from '../../client/asked.ts'
import type { Link } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { compact } from '../../core/record.ts'
import { type ListName, type NounPage, rowsOf } from '../../nouns/noun.ts'
import { count } from '../../text/text.ts'
import { columnsAt } from '../parts/table.ts'
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
import { type Fetch, ONCE_MS, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { Face, Host, View } from '../shell/screen.ts'
import { chosenIndex, type Ui } from '../shell/ui.ts'
import { screenColumns } from './columns.ts'
import { type AlwaysAsked, type ListRows, type NounRows, PAGE, type ShownRows, viewIn } from './shown.ts'

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

/** Fetches a page of any list. */
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
      const next = all[(all.indexOf(now[at]) + 1) % all.length]
      ui.set({ ...now, [at]: next, pages: { ...now.pages, [id]: 0 } })
    },
  }
}
