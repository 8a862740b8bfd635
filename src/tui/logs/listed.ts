import type { ListFields } from '../../core/filter.ts'
import { count } from '../../text/text.ts'
import { listFace, tabbedHead } from '../list/nouns.ts'
import type { ShownRows } from '../list/rows.ts'
import { accent, dim, type Line, warn } from '../parts/line.ts'
import { refuse } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { tabWords, viewWords } from '../shell/finding.ts'
import { paneActions } from '../shell/pane.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import {
  after,
  chosenIndex,
  type LogTab,
  logPart,
  logTabs,
  logViews,
  paneBeside,
  type Ui,
  unnarrowed,
} from '../shell/ui.ts'

/** What a view of the logs shows: rows, the chosen one, and texts. */
export type Listed<R> = {
  readonly shown: ShownRows<R>
  /** Title of the chosen row, for views whose ids are not readable. */
  readonly titleOf: (row: R) => string
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

/** A view of the logs as a list. Its rows have an `id`. */
export function logsList<L extends ListFields>(fields: L) {
  return { id: 'logs', noun: { idOf: ({ id }: { readonly id: string }) => id }, fields } as const
}

/** Index of the chosen row. While following, this is the newest row. */
export function chosenIn(ui: Ui, ids: readonly string[]): number {
  return ui.logs.follow ? Math.min(0, ids.length - 1) : chosenIndex(ui, ids)
}

export function listedFace<R extends object>(
  host: Host,
  listed: Listed<R>,
  own: Face['actions'],
): ReturnType<Screen['use']> {
  const { shown, titleOf, drawer, tabs, view } = listed
  const { ui, area, keys } = view
  const { row, rows, face } = shown
  const { ids } = face
  const words = tabWords(tabs, tabIn(ui, tabs))
  const lines = row && ui.pane.open !== 'beside' ? drawer(area.width) : undefined
  const title = row === undefined ? '' : titleOf(row)
  const key = [' ', accent(keyFor('follow', keys)), '   ']
  return listFace(host, {
    title: 'Logs',
    place: `${count(rows.length)} of ${listed.of}`,
    shown,
    view,
    viewsOf: () => [...viewWords(logViews, ui.logs.view), ...(listed.more ?? [])],
    note: ui.logs.follow ? [accent('●'), dim(' follows'), ...key] : [warn('‖ held'), ...key],
    none: listed.empty,
    share: 2,
    drawer: (_, { width }, isBeside) => [
      ...tabbedHead(title, words, { width, isBeside, isOnly: tabs.length < 2 }),
      ...drawer(width),
    ],
    open: lines && { lines, title, note: words(area.width - title.length) },
    actions: { ...openActions(host, { ids, lines }, area), ...logActions(host, ids, tabs), ...own },
    hints: own.level === undefined ? { level: false } : {},
  })
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
      const next = after(logViews, logs.view)
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
