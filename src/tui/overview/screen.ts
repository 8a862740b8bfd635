import { useSyncExternalStore } from 'react'
import { safe } from '../../text/text.ts'
import { businessNow, useClock } from '../crons/screen.ts'
import { liveLines } from '../feed/lines.ts'
import { blank, type Line, rule } from '../parts/line.ts'
import { joinedPanels } from '../parts/panels.ts'
import { refuse } from '../shell/ask.ts'
import { copy } from '../shell/copy.ts'
import type { CronFacts } from '../shell/cron-facts.ts'
import type { Need } from '../shell/needs.ts'
import { screenOfKind } from '../shell/needs.ts'
import { waitingLines } from '../shell/notice.ts'
import { fetchCrons, SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import { ONCE_MS } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import type { Stream } from '../shell/stream.ts'
import { chosenIndex, goTo, seriesSpans } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { fetchRiver, fetchSeries, fetchWork, type RiverFacts, type SeriesFacts, type WorkFacts } from './facts.ts'
import { heldFor, inboxLines, type MendAct, mends, needDetail } from './inbox.ts'
import {
  callsLines,
  cronLines,
  cronStrip,
  doneToday,
  moneyLines,
  openJobs,
  pulseLines,
  type WorkShownOf,
  workLine,
  workLines,
} from './panels.ts'
import { putOffChoices } from './put-off.ts'

const INBOX_ROWS = 6
const INBOX_ROWS_TALL = 7
/** Heights of the body from which a panel is shown, or shown larger. */
const PULSE_FROM = 19
const TALL_FROM = 26
const WIDE_FROM = { width: 120, height: 30 }
const LEFT_SHARE = 0.62
const SIDE_COLUMNS = 59
const LIVE_SHARE = 0.3
const PULSE_FIGURES = 4

export const overviewScreen: Screen = { id: 'overview', digit: '1', title: 'Overview', short: 'Over', use: useOverview }

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
  const ids = items.map(({ id }) => id)
  const chosen = chosenIndex(view.ui, ids)
  const listed = crons.value?.crons ?? view.health.value?.crons ?? []
  const model: Model = {
    ...view,
    river,
    series,
    work,
    crons: listed,
    stream,
    business,
    chosen,
    readonly: host.readonly,
    lastWords: safe(said.value ?? ''),
  }
  return { ids, draw: (area) => overviewLines(model, area), actions: actionsOn(host, items) }
}

/** The chosen one is looked up when the key comes: one before it, in the same piece of input, may have moved it. */
function actionsOn(host: Host, items: readonly Need[]): ReturnType<Screen['use']>['actions'] {
  const chosenOne = () => {
    const ids = items.map(({ id }) => id)
    return items[chosenIndex(host.ui.get(), ids)]
  }
  const mendIt = (need: Need) => void import('./mend.ts').then(({ mend }) => mend(host, need))
  const ofAct = (act: MendAct) => () => {
    const need = chosenOne()
    if (need === undefined) refuse(host, 'Nothing waits that this would mend.')
    else if (mends[need.kind]?.act === act) mendIt(need)
    else refuse(host, `That does not mend what is chosen: ${need.kind.replaceAll('_', ' ')}.  → enter`)
  }
  return {
    open() {
      const need = chosenOne()
      if (need === undefined) return
      if (mends[need.kind] === undefined || host.readonly) host.ui.set(goTo(host.ui.get(), screenOfKind[need.kind]))
      else mendIt(need)
    },
    copyCommand() {
      const need = chosenOne()
      if (need !== undefined) copy(host, need.fix)
    },
    giveBack() {
      const need = chosenOne()
      if (need === undefined) refuse(host, 'Nothing waits that money could be given back for.')
      else if (heldFor.has(need.kind)) void import('./mend.ts').then(({ giveBack }) => giveBack(host, need.subject))
      else refuse(host, `No money of a job waits there: it is about ${need.kind.replaceAll('_', ' ')}.`)
    },
    putOff() {
      if (putOffChoices(host).length === 0) refuse(host, 'Nothing waits that could be put off.')
      else host.ui.set({ ...host.ui.get(), picker: { kind: 'putOff', text: '', at: 0 } })
    },
    runCron: ofAct('runCron'),
    decide: ofAct('decide'),
    testHook: ofAct('testHook'),
    span() {
      const ui = host.ui.get()
      const next = seriesSpans[(seriesSpans.indexOf(ui.span) + 1) % seriesSpans.length]
      if (next !== undefined) host.ui.set({ ...ui, span: next })
    },
  }
}

type Model = View & {
  readonly river: Query<RiverFacts>
  readonly series: Query<SeriesFacts>
  readonly work: Query<WorkFacts>
  readonly crons: readonly CronFacts[]
  readonly stream: Stream
  readonly business: number | undefined
  readonly chosen: number
  readonly readonly: boolean
  /** Of the daemon, while it is gone. */
  readonly lastWords: string
}

function overviewLines(model: Model, area: ScreenArea): Line[] {
  const health = model.health.value
  if (health === undefined) return waitingLines(model.health, area.width)
  const isWide = area.width >= WIDE_FROM.width && area.height >= WIDE_FROM.height
  return isWide ? wideLines(model, area) : narrowLines(model, area)
}

/** One panel under the other; what happened just now takes what is left. */
function narrowLines(model: Model, { width, height }: ScreenArea): Line[] {
  const isTall = height >= TALL_FROM
  const money = moneyLines(model.river, model.now, width)
  const inbox = inboxLines(model, { width, rows: isTall ? INBOX_ROWS_TALL : INBOX_ROWS })
  const pulse = height >= PULSE_FROM ? pulseLines(model.series, { width, rows: isTall ? 2 : 1, keys: model.keys }) : []
  const above = [...money, ...inbox, ...pulse, ...workAndCrons(model, { width, isTall })]
  const rest = height - above.length
  return [
    ...above,
    ...liveLines(model.stream, { width, height: rest, held: model.ui.frozen, stoppedAt: stoppedAt(model) }),
  ]
}

/** When it answered last, while it is gone. */
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
  if (!isTall) return [rule(width, `Work${open}, crons ${crons.length}`, done), workLine(work), strip]
  return [rule(width, `Work${open}`, done), workLine(work), rule(width, `Crons ${crons.length}`), strip]
}

/** Money, what waits and calls at the left; figures, work and crons at the right; what happened below both. */
function wideLines(model: Model, { width, height }: ScreenArea): Line[] {
  const side = Math.min(SIDE_COLUMNS, width - Math.round(width * LEFT_SHARE))
  const split = width - side - 1
  const below = Math.max(INBOX_ROWS, Math.round(height * LIVE_SHARE))
  const room = height - below
  const left = leftLines(model, { width: split, height: room })
  const figures = pulseLines(model.series, { width: side, rows: PULSE_FIGURES, keys: model.keys })
  const work = workLines(workShown(model), side)
  const crons = cronLines(model.crons, {
    width: side,
    rows: Math.max(0, room - figures.length - work.length - 1),
    now: model.business,
  })
  const right = [...figures, ...work, ...crons]
  const used = Math.min(room, Math.max(left.length, right.length))
  const top = joinedPanels(left, right, { width, split, height: used })
  return [
    ...top,
    ...liveLines(model.stream, { width, height: height - used, held: model.ui.frozen, stoppedAt: stoppedAt(model) }),
  ]
}

const CALLS_ROWS_MAX = 8

function leftLines(model: Model, { width, height }: ScreenArea): Line[] {
  const money = moneyLines(model.river, model.now, width)
  const need = model.needs.value?.items[model.chosen]
  const detail = need === undefined ? [] : needDetail(need, width)
  const rows = Math.max(1, height - money.length - detail.length - 2 - CALLS_ROWS_MAX)
  const inbox = [...inboxLines(model, { width, rows }), ...detail, blank]
  const left = height - money.length - inbox.length - 1
  return [...money, ...inbox, ...callsLines(model.series, { width, rows: Math.min(CALLS_ROWS_MAX, left) })]
}
