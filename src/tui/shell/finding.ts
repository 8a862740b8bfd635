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
import type { ScreenId } from '../../model/words.ts'
import { writtenLine } from '../parts/edit.ts'
import { accent, dim, type Line, lineWidth, type Piece, rule, spread, strong, textOf, warn } from '../parts/line.ts'
import { type ScreenColumn, type ScreenTable, tableLines } from '../parts/table.ts'
import { type Binding, keyFor } from './bindings.ts'
import type { Face, Host } from './screen.ts'
import type { Ui } from './ui.ts'

const SETTLED_AFTER_MS = 200

/** A value after it rested a moment, to avoid requests while typing. */
export function useSettled<T>(value: T, clock: LinkClock): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => clock.later(SETTLED_AFTER_MS, () => setSettled(() => value)), [clock, value])
  return settled
}

/** Filter and sort of a list, as `--filter` and `--sort`. */
export type Wish = {
  /** Typed filter, if valid. */
  readonly filter: string
  readonly sort: string | undefined
  /** Fault with the way out. */
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

export type ListQueryAsked<S extends string> = { readonly filter?: string; readonly sort?: S }

/** A page from 0 with its query. */
export type ListPage<L extends ListFields> = { readonly page: number; readonly asked: ListQueryAsked<SortWord<L>> }

export function pageOf(page: number, rows: number): { readonly limit: string; readonly offset: string } {
  return { limit: String(rows), offset: String(page * rows) }
}

/** Searched number, if not all. */
export function amongWords(searched: { readonly rows: number; readonly of: number } | undefined): string {
  return searched !== undefined && searched.rows < searched.of ? `${searched.rows} of ${searched.of} searched` : ''
}

/** A hook: query parameters after typing rests. */
export function useListQuery<L extends ListFields>(
  host: Host,
  { filter, sort }: Wish,
  fields: L,
): ListQueryAsked<SortWord<L>> {
  return listAsked({ filter: useSettled(filter, host.clock), sort }, fields)
}

/** Requested query; unknown sorts are dropped. */
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
  /** Milliseconds on the clock of ages. */
  readonly now: number
}

/** Local filter and sort for complete lists. */
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

/** Typed filter for the list header. */
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
  /** Row range, `21 to 40 of 1,204`. */
  readonly place: string
  /** Age of stale data. */
  readonly stale: string | undefined
  readonly views: Line
  readonly ui: Ui
  readonly screen: ScreenId
  readonly keys: readonly Binding[]
  /** Default order text. */
  readonly order: string
  /** Note before the order. */
  readonly note?: Line
}

/** Header of a list: title and range, then views and order. */
export function listHead(width: number, head: ListHead): Line[] {
  const { title, place, stale, views, ui, screen, keys, order, note = [] } = head
  const age: Piece = stale === undefined ? dim(place) : warn(stale)
  const sort: Line = [accent(keyFor('sort', keys)), dim(' sort ')]
  const by = ui.sorts[screen] === undefined ? [dim(`${order}  `)] : sortedWords(ui, screen)
  const ends: readonly Line[] = [[...note, ...by, ...sort], ui.sorts[screen] === undefined ? note : [...note, ...by]]
  // Narrow windows show the current view only.
  const current = views.filter((piece) => typeof piece !== 'string' && piece.tone === 'strong')
  const typed = typedWords(ui, screen)
  const lefts: readonly Line[] = [
    [...views, typed],
    [' ', ...current, typed],
  ]
  const pairs = lefts.flatMap((left) => ends.map((right) => ({ left, right })))
  const gapOf = (right: Line) => (lineWidth(right) === 0 ? 0 : 1)
  const isIn = ({ left, right }: (typeof pairs)[number]) => lineWidth(left) + gapOf(right) + lineWidth(right) <= width
  const { left, right } = pairs.find(isIn) ?? {
    left: [' ', ...current, typed],
    right: [],
  }
  return [rule(width, title, [age, '  ', accent(keyFor('find', keys)), dim(' filter')]), spread(width, left, right)]
}

/** Views with counts; the current one in brackets. */
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

/** `s`: next sort field; `r`: reverse. */
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

/** Table of a list with marks, without hidden columns. */
export function listTable<R extends object>(
  ui: Ui,
  { idOf, columns, ...table }: Listed<R>,
): ReturnType<typeof tableLines<R>> {
  const marks = new Set(ui.marked[ui.screen])
  return tableLines({ ...table, columns: columnsShown(ui, columns), isMarked: (row) => marks.has(idOf(row)) })
}

/** The first column always stays. */
function columnsShown<R>(ui: Ui, columns: readonly ScreenColumn<R>[]): readonly ScreenColumn<R>[] {
  // Unchanged columns keep identity for caching.
  if (!columns.some(({ title }) => isPutAway(ui, title))) return columns
  return columns.filter(({ title }, i) => i === 0 || !isPutAway(ui, title))
}

export function isPutAway(ui: Ui, title: string): boolean {
  return ui.putAway[ui.screen]?.includes(title) ?? false
}

/** Hideable columns. */
export function titlesOf<R>(columns: readonly ScreenColumn<R>[]): readonly string[] {
  return columns.slice(1).map(({ title }) => title)
}

/** Toggles a column. */
export function turnColumn({ ui }: Host, title: string): void {
  const now = ui.get()
  const away = now.putAway[now.screen] ?? []
  const next = isPutAway(now, title) ? away.filter((one) => one !== title) : [...away, title]
  ui.set({ ...now, putAway: { ...now.putAway, [now.screen]: next } })
}
