import type { Held } from '../../client/link.ts'
import type { LogLevel, PostingStatus, ScreenId } from '../../model/words.ts'
import type { Cursor } from '../parts/edit.ts'
import type { Tone } from '../parts/palettes.ts'
import type { Dialog } from './dialog.ts'

const TRAIL_MAX = 50

/** What is looked at of the rows of the interface. */
export const endpointViews = ['all', 'called', 'paid', 'paused', 'off', 'broken'] as const
export type EndpointView = (typeof endpointViews)[number]

export const jobViews = ['open', 'late', 'disputed', 'done', 'failed', 'all'] as const
export type JobView = (typeof jobViews)[number]
export const jobTabs = ['timeline', 'input', 'deliverables', 'messages', 'money', 'raw'] as const
export type JobTab = (typeof jobTabs)[number]

export const serviceTabs = ['about', 'schema', 'deliveries', 'sales', 'json'] as const
export type ServiceTab = (typeof serviceTabs)[number]

/** How far back series go. */
export const seriesSpans = ['hour', 'day', 'week'] as const
export type SeriesSpanShown = (typeof seriesSpans)[number]

/** What the first screen consists of, in the order that is walked: what waits first. */
export const overviewPanels = ['needs', 'calls', 'live', 'money', 'pulse', 'work', 'crons'] as const
export type OverviewPanel = (typeof overviewPanels)[number]

export const threadViews = ['open', 'disputed', 'over', 'all'] as const
export type ThreadView = (typeof threadViews)[number]

export const shopViews = ['services', 'plans', 'subscriptions', 'requests', 'products'] as const
export type ShopView = (typeof shopViews)[number]

export const moneyViews = ['holds', 'payouts', 'failed', 'payees', 'balances'] as const
export type MoneyView = (typeof moneyViews)[number]

/** What happened: requests of several kinds, messages to endpoints, runs of the crons, and all that the daemon logged. */
export const logViews = ['requests', 'paid', 'refused', 'webhooks', 'crons', 'admin', 'everything'] as const
export type LogView = (typeof logViews)[number]
/** Those that list the same kind of thing, each with hooks of its own. */
export type LogPart = 'requests' | 'webhooks' | 'crons' | 'everything'
export function logPart(view: LogView): LogPart {
  return view === 'paid' || view === 'refused' || view === 'admin' ? 'requests' : view
}
/** Headers and bodies have none: nobody remembers them. */
export const logTabs = ['story', 'json'] as const
export type LogTab = (typeof logTabs)[number]

/** What of the chosen row is shown: beside the list, or in place of it. */
export type Pane = {
  readonly open: 'beside' | 'full' | 'raw'
  /** First line in sight. */
  readonly scroll: number
}
export const paneBeside: Pane = { open: 'beside', scroll: 0 }

export type Toast = { readonly text: string; readonly tone: Tone /** Stays until esc. */; readonly stays: boolean }

/** A list over the screen that what is typed narrows. */
export type Picker = {
  readonly kind: 'help' | 'palette' | 'columns' | 'putOff'
  readonly text: string
  /** Where in the text the next key writes; at its end unless said. */
  readonly cursor?: Cursor
  /** The chosen one of what is left. */
  readonly at: number
}

/** What the person has chosen; nothing of the marketplace is in it. */
export type Ui = {
  readonly screen: ScreenId
  readonly past: readonly ScreenId[]
  readonly future: readonly ScreenId[]
  /** Chosen row by screen, by its id: the choice stays with the row when the list changes. */
  readonly chosen: Readonly<Partial<Record<ScreenId, string>>>
  /** Rows by screen that the next act is about, by their ids. */
  readonly marked: Readonly<Partial<Record<ScreenId, readonly string[]>>>
  readonly filters: Readonly<Partial<Record<ScreenId, string>>>
  /** By which field a list is sorted, `-field` for the other way round. */
  readonly sorts: Readonly<Partial<Record<ScreenId, string | undefined>>>
  /** Columns of a list that are not wanted, by their titles. */
  readonly putAway: Readonly<Partial<Record<ScreenId, readonly string[]>>>
  /** Where in the filter the next key writes, while it is being typed. */
  readonly typing: Cursor | undefined
  /** What is open over the screen: the keys, a line that goes somewhere or does something, or what columns there are. */
  readonly picker: Picker | undefined
  /** Lines that were done, the latest last. */
  readonly lines: readonly string[]
  readonly frozen: boolean
  readonly dialog: Dialog | undefined
  readonly toast: Toast | undefined
  readonly logs: {
    readonly level: LogLevel
    readonly follow: boolean
    readonly view: LogView
  }
  readonly logTab: LogTab
  /** Which endpoints are listed. */
  readonly endpointView: EndpointView
  readonly jobView: JobView
  readonly jobTab: JobTab
  readonly serviceTab: ServiceTab
  /** What of the market is listed. */
  readonly shopView: ShopView
  readonly moneyView: MoneyView
  readonly threadView: ThreadView
  /** For whom one speaks in conversations, where that is not the usual wallet. */
  readonly speaker: Held | undefined
  /** Which requests for work are listed. */
  readonly requestView: 'all' | PostingStatus
  readonly span: SeriesSpanShown
  /** The part of the first screen that the keys are for. */
  readonly panel: OverviewPanel
  /** Page of a long list by screen, from 0. */
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

/** Another view of a screen begins at its start: what the one was narrowed and sorted by, the other may not have. */
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

/** Index of the chosen row; the first one where nothing, or something that is gone, was chosen. */
export function chosenIndex(ui: Ui, ids: readonly string[]): number {
  const id = ui.chosen[ui.screen]
  return ids.length === 0 ? -1 : Math.max(0, id === undefined ? 0 : ids.indexOf(id))
}

export function choose(ui: Ui, ids: readonly string[], index: number): Ui {
  const id = ids[Math.max(0, Math.min(index, ids.length - 1))]
  return id === undefined ? ui : { ...ui, chosen: { ...ui.chosen, [ui.screen]: id } }
}
