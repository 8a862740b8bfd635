import type { ListFields } from '../../core/filter.ts'
import { count } from '../../text/text.ts'
import { accent, blank, dim, type Line, lineWidth, rule, spread, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { refuse } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { listHead, listTable, sortActions, viewWords, wordLines } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, paneActions } from '../shell/pane.ts'
import type { Query } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type LogTab, logPart, logTabs, logViews, paneBeside, type Ui, unnarrowed } from '../shell/ui.ts'

const DRAWER_SHARE = 0.5

/** What a view of the logs shows: rows, the chosen one, and texts. */
export type Listed<R> = {
  readonly query: Query<unknown>
  readonly columns: readonly ScreenColumn<R>[]
  readonly rows: readonly R[]
  readonly idOf: (row: R) => string
  /** Title of the chosen row, for views whose ids are not readable (default: the id). */
  readonly titleOf?: (row: R) => string
  readonly chosen: number
  /** The total in words: `500` or `500, 12 older are gone`. */
  readonly of: string
  /** Text that an empty list shows. */
  readonly empty: string
  readonly drawer: (width: number) => readonly Line[]
  readonly tabs: readonly LogTab[]
  /** Shown after the views, such as the log level. */
  readonly more?: Line
  readonly view: View
}

/** Index of the chosen row. While following, this is the newest row. */
export function chosenIn(ui: Ui, ids: readonly string[]): number {
  return ui.logs.follow ? Math.min(0, ids.length - 1) : chosenIndex(ui, ids)
}

/** What a view adds to the shared actions: its own actions, and fields to filter by. */
type Own = {
  readonly fields: ListFields
  readonly problem: string | undefined
  readonly actions: Face['actions']
}

/** A view's face. */
export function listedFace<R extends object>(host: Host, listed: Listed<R>, own: Own): ReturnType<Screen['use']> {
  const { columns, rows, idOf, chosen, drawer, tabs, view } = listed
  const { ui, area } = view
  const ids = rows.map(idOf)
  const isOpen = ui.pane.open !== 'beside' && rows[chosen] !== undefined
  return {
    ids,
    problem: own.problem,
    list: listOf({ columns, rows, idOf }),
    draw: (at) => listedLines(listed, at),
    actions: {
      ...sortActions(host, 'logs', own.fields),
      ...openActions(host, { ids, lines: isOpen ? drawer(area.width) : undefined }, area),
      ...logActions(host, ids, tabs),
      ...own.actions,
    },
    hints: own.actions.level === undefined ? { level: false } : {},
  }
}

/** The list with the drawer beside it, below it, or in its place. */
function listedLines<R extends object>(listed: Listed<R>, area: ScreenArea): Line[] {
  const { query, columns, rows, idOf, titleOf = idOf, chosen, drawer, view } = listed
  const { width, height } = area
  const row = rows[chosen]
  const { open, scroll } = view.ui.pane
  if (row !== undefined && open !== 'beside') {
    const title = titleOf(row)
    return openLines(drawer(width), { title, scroll, note: tabWords(listed, width - title.length) }, area)
  }
  const side = sideOf(width)
  const head = headLines(listed, side === 0 ? width : width - side - 1)
  if (query.value === undefined) return [...head, ...waitingLines(query, width)]
  if (row === undefined) return [...head, blank, ...wordLines(emptyWords(listed), width)]
  const list = { columns, rows, idOf, chosen }
  if (side > 0) {
    const split = width - side - 1
    const table = listTable(view.ui, { ...list, width: split - 1, height: Math.max(1, height - head.length - 1) })
    const tabs = spread(side, [' ', ...tabWords(listed, side)], [dim(listed.tabs.length > 1 ? '←→ ' : '')])
    const right = [rule(side, titleOf(row), [accent('enter'), dim(' whole screen')]), tabs, ...drawer(side)]
    return joinedPanels([...head, table.head, ...table.body], right, { width, split, height })
  }
  const below = drawer(width)
  const room = Math.max(1, Math.min(below.length, Math.floor(height * DRAWER_SHARE) - 1))
  const table = listTable(view.ui, { ...list, width, height: Math.max(1, height - head.length - room - 2) })
  const title = rule(width, titleOf(row), tabWords(listed, width - titleOf(row).length))
  return [...head, table.head, ...table.body, title, ...below.slice(0, room)]
}

function headLines<R>({ query, rows, of, more = [], view: { ui, now, keys } }: Listed<R>, width: number): Line[] {
  const { follow, view } = ui.logs
  const key = [' ', accent(keyFor('follow', keys)), '   ']
  return listHead(width, {
    title: 'Logs',
    place: `${count(rows.length)} of ${of}`,
    stale: staleness(query, now),
    views: [...viewWords(logViews, view), ...more],
    ui,
    screen: 'logs',
    keys,
    order: 'newest first',
    note: follow ? [accent('●'), dim(' follows'), ...key] : [warn('‖ held'), ...key],
  })
}

function emptyWords({ empty, view: { ui } }: Pick<Listed<unknown>, 'empty' | 'view'>): string {
  return ui.filters.logs ? 'nothing matches the filter: esc clears it' : empty
}

/** The current tab. It is JSON if the row is opened as JSON. */
export function tabIn({ pane, logTab }: Ui, tabs: readonly LogTab[]): LogTab {
  if (pane.open === 'raw') return 'json'
  return tabs.includes(logTab) ? logTab : (tabs[0] ?? 'json')
}

/** Title of a drawer: the id of the trace that the drawer shows. If it shows none, the id of the row. */
export function titleIn(ui: Ui, story: { readonly id: string } | undefined, id: string): string {
  return tabIn(ui, logTabs) === 'json' ? id : (story?.id ?? id)
}

function tabWords({ tabs, view: { ui } }: Pick<Listed<unknown>, 'tabs' | 'view'>, room: number): Line {
  const current = tabIn(ui, tabs)
  const all = viewWords(tabs, current).slice(1)
  return lineWidth(all) + 7 <= room ? all : [strong(`[${current}]`)]
}

/** Actions that all views share: next view, next tab, follow. */
function logActions(host: Host, ids: readonly string[], tabs: readonly LogTab[]): Face['actions'] {
  const { ui } = host
  const turn = (by: number) => () => {
    const now = ui.get()
    const logTab = logTabs.at((logTabs.indexOf(tabIn(now, tabs)) + by) % logTabs.length)
    if (logTab !== undefined && tabs.includes(logTab)) ui.set({ ...now, logTab })
  }
  return {
    nextTab: turn(1),
    previousTab: turn(-1),
    testHook: () => refuse(host, 'Only webhook deliveries can be sent again: press v until the view is webhooks.'),
    level: () => refuse(host, 'Only the view everything has log levels: press v until it is shown.'),
    view() {
      const { logs } = ui.get()
      const next = logViews[(logViews.indexOf(logs.view) + 1) % logViews.length] ?? logs.view
      const now = ui.get()
      // Filter and sort are kept only if the next view has the same kind of rows.
      const same = logPart(logs.view) === logPart(next)
      const fresh = same ? { ...now, pane: paneBeside } : unnarrowed(now, 'logs')
      ui.set({ ...newestChosen(fresh), logs: { ...logs, view: next, follow: true } })
    },
    follow() {
      const now = ui.get()
      const [first] = ids
      if (!now.logs.follow) ui.set({ ...newestChosen(now), logs: { ...now.logs, follow: true } })
      else ui.set(held(now, first))
    },
  }
}

/** Forgets the chosen row, so that the newest row becomes the chosen one. */
function newestChosen(ui: Ui): Ui {
  const { logs: _, ...chosen } = ui.chosen
  return { ...ui, chosen }
}

/** Actions that open a row. They also stop following the newest row, so that the opened row stays chosen. */
function openActions(host: Host, model: Opened, area: ScreenArea): Face['actions'] {
  const { ids, lines } = model
  const { open, raw, ...moving } = paneActions(host, lines, area)
  const holding = (act: (() => void) | undefined) => () => {
    host.ui.set(held(host.ui.get(), ids[0]))
    act?.()
  }
  return { ...moving, open: holding(open), raw: holding(raw) }
}

type Opened = { readonly ids: readonly string[]; readonly lines: readonly Line[] | undefined }

function held(ui: Ui, first: string | undefined): Ui {
  if (!ui.logs.follow) return ui
  const chosen = first === undefined ? ui.chosen : { ...ui.chosen, logs: first }
  return { ...ui, chosen, logs: { ...ui.logs, follow: false } }
}
