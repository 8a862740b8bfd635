import { useEffect, useState } from 'react'
import type { LinkClock } from '../../client/link.ts'
import {
  type Facts,
  inOrder,
  type ListFields,
  parseFilter,
  passesFilter,
  type SortWord,
  sortWords,
} from '../../core/filter.ts'
import type { Noun } from '../../nouns/noun.ts'
import type { ScreenId } from '../../nouns/screens.ts'
import { wrap } from '../../text/text.ts'
import { writtenLine } from '../parts/keys.ts'
import {
  accent,
  dim,
  type Line,
  lineWidth,
  type Piece,
  rule,
  type ScreenColumn,
  type ScreenTable,
  spread,
  strong,
  tableLines,
  textOf,
  warn,
} from '../parts/line.ts'
import { type Binding, keyFor } from './bindings.ts'
import { type Fetch, ONCE_MS, useQuery } from './query.ts'
import type { Face, Host } from './screen.ts'
import { isPutAway, type Ui } from './ui.ts'

const SETTLED_AFTER_MS = 200

/** Hook that returns a value once it has not changed for a moment. So no requests are sent while the user types. */
export function useSettled<T>(value: T, clock: LinkClock): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => clock.later(SETTLED_AFTER_MS, () => setSettled(() => value)), [clock, value])
  return settled
}

type Opened = { readonly ui: Ui; readonly id: string; readonly admin: boolean }

/** Hook that reads what the operator opens once more, so that the instance logs it: glances of the cursor are not. */
export function useOpened(fetchOf: (id: string) => Fetch<unknown>, { ui, id, admin }: Opened): void {
  const opened = admin && ui.pane.open !== 'beside' ? id : ''
  useQuery(fetchOf(opened), { name: `opened ${opened}`, every: ONCE_MS })
}

/** What the user wants of a list: filter and sort, as in `--filter` and `--sort`. */
export type Wish = {
  /** The typed filter. Empty if it is invalid. */
  readonly filter: string
  readonly sort: string | undefined
  /** What is wrong with the typed filter, and what to write instead. */
  readonly problem: string | undefined
}

export function findingOf(ui: Ui, screen: ScreenId, fields: ListFields): Wish {
  const typed = (ui.filters[screen] ?? '').trim()
  const parsed = parseFilter(typed, fields)
  const sort = ui.sorts[screen]
  return parsed.ok
    ? { filter: typed, sort, problem: undefined }
    : { filter: '', sort, problem: `The filter ${parsed.problem}` }
}

type Emptiness = {
  /** The view; all rows are in view `all`. */
  readonly view?: string | undefined
  readonly filter: string | undefined
  readonly elsewhere?: string
  readonly width: number
  /** Option that selects the shown instance. Empty for the local one. */
  readonly option: string
}

/** What an empty list shows: why it is empty, and the key or command that changes that. */
export function emptyLines(
  { name, plural, source }: Pick<Noun<never>, 'name' | 'plural' | 'source'>,
  { view = 'all', filter, elsewhere = '', width, option }: Emptiness,
): Line[] {
  const [words, command] = source
  if (filter && elsewhere === '') return wordLines(`no such ${name}: esc clears the filter`, width)
  if (filter) return wordLines(`no such ${name} in ${view}, but ${elsewhere}: press v for another view`, width)
  if (view !== 'all') return wordLines(`no ${plural} in view ${view}: press v for another view`, width)
  return [
    ...wordLines(`no ${plural} yet: ${words}`, width),
    ['   → ', accent(command.replace(/^souk/, `souk ${option}`.trim()))],
  ]
}

/** A sentence in place of rows. */
export const wordLines = (words: string, width: number): Line[] =>
  wrap(words, width - 2).map((text) => [dim(` ${text}`)])

export type ListQueryAsked<S extends string> = { readonly filter?: string; readonly sort?: S }

export function pageOf(page: number, rows: number): { readonly limit: string; readonly offset: string } {
  return { limit: String(rows), offset: String(page * rows) }
}

/** How many rows the instance searched, in words. Empty if it searched all. */
export function amongWords(searched: { readonly rows: number; readonly of: number } | undefined): string {
  return searched !== undefined && searched.rows < searched.of ? `${searched.rows} of ${searched.of} searched` : ''
}

/** Hook that returns the filter and sort for a request, once the user has stopped typing. */
export function useListQuery<L extends ListFields>(
  host: Host,
  { filter, sort }: Wish,
  fields: L,
): ListQueryAsked<SortWord<L>> {
  return listAsked({ filter: useSettled(filter, host.clock), sort }, fields)
}

/** Filter and sort for a request. A sort that the list does not have is dropped. */
export function listAsked<L extends ListFields>(
  { filter, sort }: Pick<Wish, 'filter' | 'sort'>,
  fields: L,
): ListQueryAsked<SortWord<L>> {
  const by = sortWords(fields).find((word) => word === sort)
  return { ...(filter === '' ? {} : { filter }), ...(by === undefined ? {} : { sort: by }) }
}

type Local<T, L extends ListFields> = {
  readonly fields: L
  readonly factsOf: (row: T) => Facts<L>
  /** Current time in milliseconds, on the clock by which ages are measured. */
  readonly now: number
}

/** Filters and sorts rows in the cockpit, for lists whose endpoint cannot. */
export function narrowed<T, L extends ListFields>(
  rows: readonly T[],
  { filter, sort }: Wish,
  { fields, factsOf, now }: Local<T, L>,
): readonly T[] {
  const parsed = parseFilter(filter, fields)
  const found = parsed.ok ? rows.filter((row) => passesFilter(parsed.filter, factsOf(row), now)) : rows
  if (sort === undefined) return found
  const compare = inOrder(fields, sort)
  return found
    .map((row) => ({ row, facts: factsOf(row) }))
    .toSorted((a, b) => compare(a.facts, b.facts))
    .map(({ row }) => row)
}

/** The filter as the list header shows it. */
export function typedWords(ui: Ui, screen: ScreenId): string {
  const text = ui.filters[screen] ?? ''
  if (ui.typing) return `   /${textOf(writtenLine({ text, cursor: ui.typing }, Number.POSITIVE_INFINITY))}`
  return text === '' ? '' : `   /${text}`
}

/** Sort text, `amount ↓`. */
export function sortedWords(ui: Ui, screen: ScreenId): readonly Piece[] {
  const sort = ui.sorts[screen]
  if (sort === undefined) return []
  return [dim('by '), accent(`${sort.replace(/^-/, '')} ${sort.startsWith('-') ? '↓' : '↑'}`), '   ']
}

export type ListHead = {
  readonly title: string
  /** Which rows are shown: `21 to 40 of 1,204`. */
  readonly place: string
  /** How old the data is, if it is stale. */
  readonly stale: string | undefined
  readonly views: Line
  readonly ui: Ui
  readonly screen: ScreenId
  readonly keys: readonly Binding[]
  /** Default order text. */
  readonly order: string
  /** Shown before the sort order. */
  readonly note?: Line
}

/** Draws the header of a list: title and range on the first line, views and sort order on the second. */
export function listHead(width: number, head: ListHead): Line[] {
  const { title, place, stale, views, ui, screen, keys, order, note = [] } = head
  const age: Piece = stale === undefined ? dim(place) : warn(stale)
  const sort: Line = [accent(keyFor('sort', keys)), dim(' sort ')]
  const by = ui.sorts[screen] === undefined ? [dim(`${order}  `)] : sortedWords(ui, screen)
  const ends: readonly Line[] = [[...note, ...by, ...sort], ui.sorts[screen] === undefined ? note : [...note, ...by]]
  // Narrow windows show only the current view.
  const current = views.filter((piece) => typeof piece !== 'string' && piece.tone === 'strong')
  const typed = typedWords(ui, screen)
  const lefts: readonly Line[] = [
    [...views, typed],
    [' ', ...current, typed],
  ]
  const pairs = lefts.flatMap((left) => ends.map((right) => ({ left, right })))
  const gapOf = (right: Line) => (lineWidth(right) === 0 ? 0 : 1)
  const isIn = ({ left, right }: (typeof pairs)[number]) => lineWidth(left) + gapOf(right) + lineWidth(right) <= width
  const { left, right } = pairs.find(isIn) ?? { left: [' ', ...current, typed], right: [] }
  return [rule(width, title, [age, '  ', accent(keyFor('find', keys)), dim(' filter')]), spread(width, left, right)]
}

/** The names of the views with their counts. The current one is in brackets. */
export function viewWords<V extends string>(
  all: readonly V[],
  current: V,
  counts?: Readonly<Partial<Record<V, number | undefined>>>,
): Line {
  return all.flatMap((name, i): Piece[] => {
    const many = counts?.[name]
    const words = many === undefined ? name : `${name} ${many}`
    return [i === 0 ? ' ' : '  ', name === current ? strong(`[${words}]`) : dim(words)]
  })
}

/** The names of tabs, or only the current one if there is little room. */
export const tabWords =
  <T extends string>(all: readonly T[], current: T) =>
  (room: number): Line => {
    const words = viewWords(all, current).slice(1)
    return lineWidth(words) + 7 <= room ? words : [strong(`[${current}]`)]
  }

/** The actions of `s` (next sort field) and `r` (reverse the order). */
export function sortActions(host: Host, screen: ScreenId, fields: ListFields): Face['actions'] {
  const set = (sort: string | undefined) => {
    const ui = host.ui.get()
    host.ui.set({ ...ui, sorts: { ...ui.sorts, [screen]: sort }, pages: { ...ui.pages, [screen]: 0 } })
  }
  const names = Object.keys(fields)
  return {
    sort() {
      const current = host.ui.get().sorts[screen]
      set(current === undefined ? names[0] : names[names.indexOf(current.replace(/^-/, '')) + 1])
    },
    turn() {
      const current = host.ui.get().sorts[screen] ?? names[0] ?? ''
      set(current.startsWith('-') ? current.slice(1) : `-${current}`)
    },
  }
}

type Listed<R> = Omit<ScreenTable<R>, 'isMarked'> & { readonly idOf: (row: R) => string }

/** Draws the table of a list with its marks. Columns that the user hid are left out. */
export function listTable<R extends object>(
  ui: Ui,
  { columns, ...table }: Listed<R>,
): ReturnType<typeof tableLines<R>> {
  const marks = new Set(ui.marked[ui.screen])
  return tableLines({ ...table, columns: columnsShown(ui, columns), isMarked: (row) => marks.has(table.idOf(row)) })
}

/** The columns that are not hidden. The first one cannot be hidden. */
function columnsShown<R>(ui: Ui, columns: readonly ScreenColumn<R>[]): readonly ScreenColumn<R>[] {
  // Without hidden columns the same array is returned, so that drawings stay cached.
  if (!columns.some(({ title }) => isPutAway(ui, title))) return columns
  return columns.filter(({ title }, i) => i === 0 || !isPutAway(ui, title))
}

/** Toggles a column. */
export function turnColumn({ ui }: Host, title: string): void {
  const now = ui.get()
  const away = now.putAway[now.screen] ?? []
  const next = isPutAway(now, title) ? away.filter((one) => one !== title) : [...away, title]
  ui.set({ ...now, putAway: { ...now.putAway, [now.screen]: next } })
}
