import { useSyncExternalStore } from 'react'
import { seriesSpans } from '../../model/words.ts'
import { attentionWords, type MendAct, mendOf } from '../../nouns/attention.ts'
import { safe } from '../../text/text.ts'
import { liveLines } from '../feed/lines.ts'
import { blank, type Line, rule } from '../parts/line.ts'
import { joinedPanels } from '../parts/panels.ts'
import { shortRiver } from '../parts/river.ts'
import { runDialog } from '../shell/act-dialogs.ts'
import { askUser, refuse, shellCommand } from '../shell/ask.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import { copy } from '../shell/copy.ts'
import type { ListedCron } from '../shell/cron-facts.ts'
import { fetchRiver, fetchSeries, fetchWork, type River, type Series, type WorkFacts } from '../shell/figures.ts'
import type { Need } from '../shell/needs.ts'
import { waitingLines } from '../shell/notice.ts'
import { fetchCrons, SLOW_EVERY_MS } from '../shell/queries.ts'
import { ONCE_MS, type Query, useQuery } from '../shell/query.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import type { Stream } from '../shell/stream.ts'
import { after, chosenIndex, type OverviewPanel, overviewPanels, type Ui } from '../shell/ui.ts'
import { inboxLines, needDetail } from './inbox.ts'
import {
  callsLines,
  cronLines,
  cronStrip,
  doneToday,
  moneyLines,
  openJobs,
  paidInLine,
  pulseLines,
  type WorkShownOf,
  workLine,
  workLines,
} from './panels.ts'
import { putOffChoices } from './put-off.ts'
import { idsIn, lit, openNeed, openPanel, panelActions, type Rows, type Walked } from './walk.ts'

const INBOX_ROWS = 6
const INBOX_ROWS_TALL = 7
/** Heights of panels. */
const PULSE_FROM = 19
const TALL_FROM = 26
const WIDE_FROM = { width: 120, height: 30 }
const LEFT_SHARE = 0.62
const SIDE_COLUMNS = 59
const LIVE_SHARE = 0.3
const PULSE_FIGURES = 4
/** Minimum number of rows of the feed: its title and one event. */
const FEED_LEAST = 2
/** At this width or more, the cash flow is drawn as a picture. */
const PICTURE_FROM = 76

export const screen: Screen = { title: 'Overview', short: 'Over', use: useOverview }

function useOverview(host: Host, view: View): ReturnType<Screen['use']> {
  const { link, refreshMs } = host
  const { span } = view.ui
  const river = useQuery(fetchRiver(link), { name: 'river', every: refreshMs })
  const series = useQuery(fetchSeries(link, span), { name: `series ${span}`, every: SLOW_EVERY_MS })
  const work = useQuery(fetchWork(link), { name: 'work', every: SLOW_EVERY_MS })
  const crons = useQuery(fetchCrons(link), { name: 'crons', every: SLOW_EVERY_MS })
  const stream = useSyncExternalStore(host.stream.subscribe, host.stream.get)
  const isGone = view.health.problem?.kind === 'gone'
  const said = useQuery(async () => ({ ok: true, value: (isGone ? await host.lastWords?.() : '') ?? '' }) as const, {
    name: `last words ${isGone}`,
    every: ONCE_MS,
  })
  const business = businessNow(useClock(host), view.now)
  const items = view.needs.value?.items ?? []
  const listed = crons.value?.crons ?? view.health.value?.crons ?? []
  const rows: Rows = { needs: items, crons: listed, events: stream.events }
  const panel = panelIn(view.ui, view.area)
  const ids = idsIn(panel, rows)
  const model: Model = {
    ...view,
    river,
    series,
    work,
    crons: listed,
    stream,
    business,
    panel,
    chosen: chosenIndex(view.ui, ids),
    readonly: host.readonly,
    isLocal: !link.place.guarded,
    lastWords: safe(said.value ?? ''),
  }
  return {
    ids,
    draw: (area) => overviewLines(model, area),
    actions: {
      ...panelActions(host, panelsIn(view.area)),
      ...actionsOn({ host, rows, panel: () => panelIn(host.ui.get(), view.area) }),
    },
    choose(id) {
      const panel = panelsIn(view.area).find((one) => idsIn(one, rows).includes(id))
      const ui = host.ui.get()
      if (panel !== undefined) host.ui.set({ ...ui, panel, chosen: { ...ui.chosen, overview: id } })
    },
    who() {
      const ui = host.ui.get()
      const id = idsIn(panelIn(ui, view.area), rows)[chosenIndex(ui, ids)]
      const event = rows.events.find(({ cursor }) => String(cursor) === id)
      return [event?.subject, event?.detail, rows.needs.find((need) => need.id === id)?.subject]
    },
  }
}

type Model = View & {
  readonly river: Query<River>
  readonly series: Query<Series>
  readonly work: Query<WorkFacts>
  readonly crons: readonly ListedCron[]
  readonly stream: Stream
  readonly business: number | undefined
  /** The panel with the focus. `chosen` is the index of its chosen row. */
  readonly panel: OverviewPanel
  readonly chosen: number
  readonly readonly: boolean
  readonly isLocal: boolean
  /** Last log line of a stopped daemon, else empty. */
  readonly lastWords: string
}

function isWideArea({ width, height }: ScreenArea): boolean {
  return width >= WIDE_FROM.width && height >= WIDE_FROM.height
}

function overviewLines(model: Model, area: ScreenArea): Line[] {
  const health = model.health.value
  if (health === undefined) return waitingLines(model.health, area.width)
  return isWideArea(area) ? wideLines(model, area) : narrowLines(model, area)
}

/** Draws the panels one below another. The feed gets the remaining rows. */
function narrowLines(model: Model, { width, height }: ScreenArea): Line[] {
  const isTall = height >= TALL_FROM
  const inbox = inboxPanel(model, { width, rows: isTall ? INBOX_ROWS_TALL : INBOX_ROWS })
  const work = workAndCrons(model, { width, isTall })
  const others = inbox.length + work.length
  const whole = moneyLines(model.river, model.now, width)
  const pulseOf = (hasPast: boolean) =>
    pulseLines(model.series, { width, rows: isTall ? 2 : 1, keys: model.keys, hasPast })
  const withPast = pulseOf(true)
  const fits = whole.length + others + withPast.length + FEED_LEAST <= height
  const pulse = height >= PULSE_FROM ? lit(fits ? withPast : pulseOf(false), model.panel === 'pulse') : []
  const below = [...inbox, ...pulse, ...work]
  const money = pulse.length > 0 ? whole : lowMoney(model, { width, height: height - below.length })
  const above = [...lit(money, model.panel === 'money'), ...below]
  return [...above, ...livePanel(model, { width, height: height - above.length })]
}

/** Adds a sparkline of inflow below the cash flow, if there is room. */
function lowMoney(model: Model, { width, height }: ScreenArea): Line[] {
  const whole = moneyLines(model.river, model.now, width)
  const spark = paidInLine(model.series, width)
  const fits = (lines: readonly Line[]) => lines.length + spark.length + FEED_LEAST <= height
  const money = fits(whole) ? whole : lowRiver(whole, model, width)
  return fits(money) ? [...money, ...spark] : whole
}

/** One line with the sums, if the cash flow would otherwise take several lines. */
function lowRiver(whole: Line[], { river }: Model, width: number): Line[] {
  const short = river.value === undefined || width >= PICTURE_FROM ? undefined : shortRiver(river.value, width)
  return short === undefined ? whole : [...whole.slice(0, 1), short]
}

/** Index of the chosen row in a panel. -1 if the panel has no focus. */
function chosenIn(panel: OverviewPanel, model: Model): number {
  return model.panel === panel ? model.chosen : -1
}

function inboxPanel(model: Model, room: { readonly width: number; readonly rows: number }): Line[] {
  const chosen = chosenIn('needs', model)
  return lit(inboxLines({ ...model, chosen }, room), model.panel === 'needs', true)
}

function livePanel(model: Model, { width, height }: ScreenArea): Line[] {
  const held = model.ui.frozen
  const chosen = chosenIn('live', model)
  return lit(
    liveLines(model.stream, { width, height, held, now: model.business, stoppedAt: stoppedAt(model), chosen }),
    model.panel === 'live',
    chosen >= 0,
  )
}

/** Panels that this area has room for, in focus order. */
function panelsIn({ width, height }: ScreenArea): readonly OverviewPanel[] {
  if (isWideArea({ width, height })) return overviewPanels
  const isAway: Partial<Record<OverviewPanel, boolean>> = {
    calls: true,
    pulse: height < PULSE_FROM,
    crons: height < TALL_FROM,
  }
  return overviewPanels.filter((panel) => isAway[panel] !== true)
}

/** The panel with the focus, or the inbox while that panel is hidden. */
function panelIn({ panel }: Ui, area: ScreenArea): OverviewPanel {
  return panelsIn(area).includes(panel) ? panel : 'needs'
}

/** Time of the last response, if the daemon is gone. */
function stoppedAt({ health }: Model): number | undefined {
  return health.problem?.kind === 'gone' ? health.at : undefined
}

function workShown({ work, river }: Model): WorkShownOf | undefined {
  if (work.value === undefined || river.value === undefined) return undefined
  return { work: work.value, held: river.value.held_jobs, ended: river.value.ended }
}

type Room = { readonly width: number; readonly isTall: boolean }

function workAndCrons(model: Model, { width, isTall }: Room): Line[] {
  const { crons } = model
  const strip = cronStrip(crons, model.business)
  const work = workShown(model)
  const open = work === undefined ? '' : ` ${openJobs(work)} open`
  const done = doneToday(work)
  if (!isTall) {
    const both = [rule(width, `Work${open}, crons ${crons.length}`, done), workLine(work), strip]
    return lit(both, model.panel === 'work')
  }
  return [
    ...lit([rule(width, `Work${open}`, done), workLine(work)], model.panel === 'work'),
    ...lit([rule(width, `Crons ${crons.length}`), strip], model.panel === 'crons'),
  ]
}

/** Money, inbox and calls at the left; figures, work and crons at the right; the feed below. */
function wideLines(model: Model, { width, height }: ScreenArea): Line[] {
  const side = Math.min(SIDE_COLUMNS, width - Math.round(width * LEFT_SHARE))
  const split = width - side - 1
  const below = Math.max(INBOX_ROWS, Math.round(height * LIVE_SHARE))
  const room = height - below
  const left = leftLines(model, { width: split, height: room })
  const pulse = pulseLines(model.series, { width: side, rows: PULSE_FIGURES, keys: model.keys })
  const figures = lit(pulse, model.panel === 'pulse')
  const work = lit(workLines(workShown(model), side), model.panel === 'work')
  const crons = lit(
    cronLines(model.crons, {
      width: side,
      rows: Math.max(0, room - figures.length - work.length - 1),
      now: model.business,
      chosen: chosenIn('crons', model),
    }),
    model.panel === 'crons',
    true,
  )
  const right = [...figures, ...work, ...crons]
  const used = Math.min(room, Math.max(left.length, right.length))
  const top = joinedPanels(left, right, { width, split, height: used })
  return [...top, ...livePanel(model, { width, height: height - used })]
}

const CALLS_ROWS_MAX = 8

function leftLines(model: Model, { width, height }: ScreenArea): Line[] {
  const money = lit(moneyLines(model.river, model.now, width), model.panel === 'money')
  const need = model.needs.value?.items[chosenIn('needs', model)]
  const detail = need === undefined ? [] : needDetail(need, width)
  const rows = Math.max(1, height - money.length - detail.length - 2 - CALLS_ROWS_MAX)
  const inbox = [...inboxPanel(model, { width, rows }), ...detail, blank]
  const left = height - money.length - inbox.length - 1
  const calls = callsLines(model.series, { width, rows: Math.min(CALLS_ROWS_MAX, left) })
  return [...money, ...inbox, ...lit(calls, model.panel === 'calls')]
}

/** The chosen row is looked up when the key is pressed, since an earlier key may have moved the cursor. */
function actionsOn(walked: Walked): Face['actions'] {
  const { host, rows, panel } = walked
  const chosenId = () => {
    const ui = host.ui.get()
    const ids = idsIn(panel(), rows)
    return ids[chosenIndex(ui, ids)]
  }
  /** An item is chosen only while the inbox has the focus. */
  const chosenNeed = () => (panel() === 'needs' ? rows.needs.find(({ id }) => id === chosenId()) : undefined)
  const chosenCron = () => (panel() === 'crons' ? rows.crons.find(({ name }) => name === chosenId()) : undefined)
  const mendIt = (need: Need) => void import('./mend.ts').then(({ mend }) => mend(host, need))
  const ofAct = (act: MendAct) => () => {
    const need = chosenNeed()
    if (need === undefined) refuse(host, nothingChosen(panel(), 'There is no open problem that this key fixes.'))
    else if (mendOf(need)?.act === act) mendIt(need)
    else refuse(host, `This key does not fix the selected problem: ${attentionWords[need.kind].word}.  → enter`)
  }
  return {
    open() {
      const at = panel()
      const need = chosenNeed()
      if (at !== 'needs') openPanel(walked, at, chosenId())
      else if (need === undefined) return
      else if (mendOf(need) === undefined || host.readonly) void openNeed(host, need)
      else mendIt(need)
    },
    ...copyActions(walked, { chosenId, chosenNeed, chosenCron }),
    giveBack() {
      const need = chosenNeed()
      // For a dispute, this key refunds the whole amount.
      if (need?.kind === 'dispute') void import('./mend.ts').then(({ giveBack }) => giveBack(host, need.subject))
      else ofAct('giveBack')()
    },
    add: ofAct('add'),
    putOff() {
      if (putOffChoices(host).length === 0) refuse(host, nothingChosen(panel(), 'There is no open problem to snooze.'))
      else host.ui.set({ ...host.ui.get(), picker: { kind: 'putOff', text: '', at: 0 } })
    },
    runCron() {
      const cron = chosenCron()
      if (cron === undefined) ofAct('runCron')()
      else askUser(host, runDialog(host, cron))
    },
    decide: ofAct('decide'),
    testHook: ofAct('testHook'),
    span() {
      const ui = host.ui.get()
      host.ui.set({ ...ui, span: after(seriesSpans, ui.span) })
    },
  }
}

type Chosen = {
  readonly chosenId: () => string | undefined
  readonly chosenNeed: () => Need | undefined
  readonly chosenCron: () => ListedCron | undefined
}

function copyActions({ host, rows, panel }: Walked, { chosenId, chosenNeed, chosenCron }: Chosen): Face['actions'] {
  return {
    copyId() {
      const id = chosenId()
      const event = panel() === 'live' ? rows.events.find(({ cursor }) => String(cursor) === id) : undefined
      const copied = event?.subject ?? chosenNeed()?.subject ?? id
      if (copied !== undefined) copy(host, copied)
    },
    copyCommand() {
      const need = chosenNeed()
      const cron = chosenCron()
      if (need !== undefined) copy(host, need.fix)
      else if (cron !== undefined) copy(host, shellCommand(host, ['crons', 'run', cron.name]))
    },
  }
}

/** Says why a key does nothing: the inbox has no focus, or it has no problem for this key. */
function nothingChosen(panel: OverviewPanel, nothing: string): string {
  return panel === 'needs' ? nothing : 'First select the open problems: press tab.'
}
