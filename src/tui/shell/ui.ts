import type { Held } from '../../client/link.ts'
import type { LogLevel, PostingStatus, SeriesSpan } from '../../model/words.ts'
import type { ScreenId } from '../../nouns/screens.ts'
import type { Cursor } from '../parts/keys.ts'
import type { Tone } from '../parts/palettes.ts'
import type { Dialog } from './dialog.ts'

const TRAIL_MAX = 50

export const endpointViews = ['all', 'called', 'paid', 'paused', 'off', 'broken'] as const
export type EndpointView = (typeof endpointViews)[number]

/** The one after `value`; after the last, the first. */
export function after<T>(all: readonly T[], value: T): T {
  return all[(all.indexOf(value) + 1) % all.length] ?? value
}

export const jobViews = ['open', 'late', 'disputed', 'done', 'failed', 'all'] as const
export type JobView = (typeof jobViews)[number]
export const jobTabs = ['timeline', 'input', 'deliverables', 'messages', 'money', 'raw'] as const
export type JobTab = (typeof jobTabs)[number]

export const serviceTabs = ['about', 'schema', 'deliveries', 'sales', 'json'] as const
export type ServiceTab = (typeof serviceTabs)[number]

/** Panels of the overview, in focus order. */
export const overviewPanels = ['needs', 'calls', 'live', 'money', 'pulse', 'work', 'crons'] as const
export type OverviewPanel = (typeof overviewPanels)[number]

export const threadViews = ['open', 'disputed', 'over', 'all'] as const
export type ThreadView = (typeof threadViews)[number]

export const shopViews = ['services', 'plans', 'subscriptions', 'requests', 'products'] as const
export type ShopView = (typeof shopViews)[number]

export const moneyViews = ['holds', 'payouts', 'failed', 'payees', 'balances'] as const
export type MoneyView = (typeof moneyViews)[number]

export const logViews = ['requests', 'paid', 'refused', 'webhooks', 'crons', 'admin', 'everything'] as const
export type LogView = (typeof logViews)[number]
/** Views of the logs that share one kind of row. */
export type LogPart = 'requests' | 'webhooks' | 'crons' | 'everything'
export function logPart(view: LogView): LogPart {
  return view === 'paid' || view === 'refused' || view === 'admin' ? 'requests' : view
}

/** Tabs of a drawer. None shows headers or bodies of requests, since these are not logged. */
export const logTabs = ['story', 'json'] as const
export type LogTab = (typeof logTabs)[number]

/** How the chosen row is shown: beside the list, or in place of the list (in full, or as JSON). */
export type Pane = {
  readonly open: 'beside' | 'full' | 'raw'
  /** First visible line. */
  readonly scroll: number
}
export const paneBeside: Pane = { open: 'beside', scroll: 0 }

export type Toast = {
  readonly text: string
  readonly tone: Tone
  /** Stays until esc. */
  readonly stays: boolean
  /** Stays until the first key after `readAt`. If that key is enter, it opens what the message is about. */
  readonly news?: { readonly readAt: number; readonly open: () => void }
}

/** A list that is drawn over the screen and filtered by typed text. */
export type Picker = {
  readonly kind: 'help' | 'palette' | 'columns' | 'putOff' | 'output' | 'card' | 'save'
  /** People whose card can be shown, the shown one first. */
  readonly who?: readonly { readonly id: string; readonly role: string }[]
  /** Title of the box (default: by kind). */
  readonly title?: string
  readonly text: string
  /** Text cursor (default: at the end). */
  readonly cursor?: Cursor
  /** Chosen index. */
  readonly at: number
}

/** What the user has chosen, typed and opened. Contains no data of the marketplace. */
export type Ui = {
  readonly screen: ScreenId
  readonly past: readonly ScreenId[]
  readonly future: readonly ScreenId[]
  /** Id of the chosen row by screen. The choice stays with the row when rows move. */
  readonly chosen: Readonly<Partial<Record<ScreenId, string>>>
  /** Ids of the marked rows by screen. */
  readonly marked: Readonly<Partial<Record<ScreenId, readonly string[]>>>
  readonly filters: Readonly<Partial<Record<ScreenId, string>>>
  /** Sort field by screen. `-field` reverses the order. */
  readonly sorts: Readonly<Partial<Record<ScreenId, string | undefined>>>
  /** Titles of hidden columns by screen. */
  readonly putAway: Readonly<Partial<Record<ScreenId, readonly string[]>>>
  /** Text cursor in the filter while it is being typed. */
  readonly typing: Cursor | undefined
  readonly picker: Picker | undefined
  /** Lines of the last command's output. */
  readonly output: readonly string[]
  /** Lines that were run in the palette, the latest last. */
  readonly lines: readonly string[]
  readonly frozen: boolean
  readonly dialog: Dialog | undefined
  readonly toast: Toast | undefined
  readonly logs: { readonly level: LogLevel; readonly follow: boolean; readonly view: LogView }
  readonly logTab: LogTab
  readonly endpointView: EndpointView
  readonly jobView: JobView
  readonly jobTab: JobTab
  readonly serviceTab: ServiceTab
  /** Market view. */
  readonly shopView: ShopView
  readonly moneyView: MoneyView
  readonly threadView: ThreadView
  /** The wallet that writes in conversations, if it is not the default wallet. */
  readonly speaker: Held | undefined
  readonly requestView: 'all' | PostingStatus
  readonly span: SeriesSpan
  readonly panel: OverviewPanel
  /** Page by screen, counted from 0. */
  readonly pages: Readonly<Partial<Record<ScreenId, number>>>
  readonly pane: Pane
}

export function firstUi(screen: ScreenId): Ui {
  return {
    screen,
    past: [],
    future: [],
    chosen: {},
    marked: {},
    filters: {},
    sorts: {},
    putAway: {},
    typing: undefined,
    picker: undefined,
    output: [],
    lines: [],
    frozen: false,
    dialog: undefined,
    toast: undefined,
    logs: { level: 'info', follow: true, view: 'requests' },
    logTab: 'story',
    endpointView: 'all',
    jobView: 'open',
    jobTab: 'timeline',
    serviceTab: 'about',
    shopView: 'services',
    moneyView: 'holds',
    threadView: 'open',
    speaker: undefined,
    requestView: 'all',
    span: 'hour',
    panel: 'needs',
    pages: {},
    pane: paneBeside,
  }
}

const unopened = { typing: undefined, pane: paneBeside } as const

export function goTo(ui: Ui, screen: ScreenId): Ui {
  if (screen === ui.screen) return ui
  return { ...ui, screen, past: [...ui.past, ui.screen].slice(-TRAIL_MAX), future: [], ...unopened }
}

export function goBack(ui: Ui): Ui {
  const screen = ui.past.at(-1)
  if (screen === undefined) return ui
  return {
    ...ui,
    screen,
    past: ui.past.slice(0, -1),
    future: [ui.screen, ...ui.future].slice(0, TRAIL_MAX),
    ...unopened,
  }
}

export function goForward(ui: Ui): Ui {
  const [screen, ...future] = ui.future
  if (screen === undefined) return ui
  return { ...ui, screen, past: [...ui.past, ui.screen].slice(-TRAIL_MAX), future, ...unopened }
}

/** Whether the user has hidden a column. */
export function isPutAway(ui: Ui, title: string): boolean {
  return ui.putAway[ui.screen]?.includes(title) ?? false
}

/** Resets filter, sort, page and marks, which may not fit another view. */
export function unnarrowed(ui: Ui, screen: ScreenId): Ui {
  const { pages, sorts, filters, marked } = ui
  return {
    ...ui,
    pages: { ...pages, [screen]: 0 },
    sorts: { ...sorts, [screen]: undefined },
    filters: { ...filters, [screen]: '' },
    marked: { ...marked, [screen]: [] },
    pane: paneBeside,
  }
}

/** Index of the chosen row. The first row if none is chosen or the chosen one is gone; -1 in an empty list. */
export function chosenIndex(ui: Ui, ids: readonly string[]): number {
  const id = ui.chosen[ui.screen]
  if (id === LAST_ROW) return ids.length - 1
  return ids.length === 0 ? -1 : Math.max(0, id === undefined ? 0 : ids.indexOf(id))
}

export function choose(ui: Ui, ids: readonly string[], index: number): Ui {
  const id = ids[Math.max(0, Math.min(index, ids.length - 1))]
  return id === undefined ? ui : { ...ui, chosen: { ...ui.chosen, [ui.screen]: id } }
}

/** Placeholders for the chosen id until the rows of another page are loaded. */
const FIRST_ROW = 'first row'
const LAST_ROW = 'last row'
/** Number of rows by which page keys move the cursor. Fewer than fit, so that some earlier rows stay visible. */
const PAGE_ROWS = 10

const steps = {
  up: (at: number) => at - 1,
  down: (at: number) => at + 1,
  pageUp: (at: number) => at - PAGE_ROWS,
  pageDown: (at: number) => at + PAGE_ROWS,
  first: () => 0,
  last: (_at: number, count: number) => count - 1,
} as const
export type CursorStep = keyof typeof steps
export const stepNames = Object.keys(steps) as readonly CursorStep[]

type Walk = { readonly step: CursorStep; readonly lastPage: number }

/** The page on which a cursor step ends. A step beyond the last or first row changes the page. */
function pageAfter(ui: Ui, ids: readonly string[], { step, lastPage }: Walk): number {
  if (step === 'first') return 0
  if (step === 'last') return lastPage
  const page = ui.pages[ui.screen] ?? 0
  const by = step === 'up' || step === 'pageUp' ? -1 : 1
  const isEdge = chosenIndex(ui, ids) === (by < 0 ? 0 : ids.length - 1)
  return isEdge ? Math.max(0, Math.min(page + by, lastPage)) : page
}

/** Moves the cursor through a list, across page borders. */
export function walked(ui: Ui, ids: readonly string[], walk: Walk): Ui {
  const { step, lastPage } = walk
  const at = chosenIndex(ui, ids)
  if (at < 0) return ui
  const to = pageAfter(ui, ids, walk)
  const isEnd = step === 'first' || step === 'last'
  const isSame = to === (ui.pages[ui.screen] ?? 0)
  if (isSame && (lastPage === 0 || !isEnd)) return choose(ui, ids, steps[step](at, ids.length))
  const fromEnd = step === 'last' || step === 'up' || step === 'pageUp'
  const chosen = { ...ui.chosen, [ui.screen]: fromEnd ? LAST_ROW : FIRST_ROW }
  return { ...ui, chosen, pages: { ...ui.pages, [ui.screen]: to } }
}
