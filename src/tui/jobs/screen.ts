import { useMemo, useSyncExternalStore } from 'react'
import { jobFields } from '../../api/endpoint/list-fields.ts'
import type { Facts } from '../../core/filter.ts'
import { MINUTE_MS } from '../../core/time.ts'
import { workingJobStatuses } from '../../model/job.ts'
import { buyerOf, isOverdue, type Job, job, providerOf, serviceOf } from '../../nouns/jobs.ts'
import { microOf } from '../../text/columns.ts'
import { liveLines } from '../feed/lines.ts'
import { canGiveBack, rulingDialog, withdrawDialog } from '../job/dialogs.ts'
import { factLine, linesOf, partyLine, partyLines, rulingLine, rulingLines } from '../job/lines.ts'
import { fetchJob } from '../job/rows.ts'
import { listFace, tabbedHead } from '../list/nouns.ts'
import { listRows } from '../list/rows.ts'
import { accent, blank, dim, type Line, spread } from '../parts/line.ts'
import { sideOf } from '../parts/panels.ts'
import { refuse, shellCommand } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { tabWords, useOpened, useSettled } from '../shell/finding.ts'
import { askEach, meant } from '../shell/marks.ts'
import { waitingLines } from '../shell/notice.ts'
import { glance, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import type { Stream } from '../shell/stream.ts'
import { type JobTab, type JobView, jobTabs, jobViews, type Ui } from '../shell/ui.ts'

const worst = { sort: 'worst' } as const
const useRows = listRows<Job>({
  id: 'jobs',
  noun: job,
  fields: jobFields,
  views: {
    all: jobViews,
    at: 'jobView',
    asked: {
      open: { ...worst, filter: 'open:yes' },
      late: { ...worst, filter: 'open:yes late:yes' },
      disputed: { ...worst, filter: 'status:disputed' },
      done: { filter: 'status:completed,verified,released' },
      failed: { filter: 'status:failed,expired,cancelled,refunded' },
      all: worst,
    } satisfies Record<JobView, object>,
  },
  own: { list: 'listJobs', factsOf },
})

export const screen: Screen = { title: 'Jobs', use: useJobs }

/** Hook that returns the jobs and the chosen job. Without the admin key, these are only the user's own jobs. */
function useJobs(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, needs } = view
  const admin = view.where?.admin !== false
  const shown = useRows(host, view)
  const { row, rows, now } = shown
  const lines = useDetail(host, view, { id: row?.job_id ?? '', admin, now })
  const stream = useSyncExternalStore(host.stream.subscribe, host.stream.get)
  const commandOf = (id: string) => shellCommand(host, ['admin', 'jobs', 'resolve', id])
  const model: Model = { lines, stream, commandOf, now, view }
  const isWorstFirst = admin && ui.jobView !== 'done' && ui.jobView !== 'failed'
  return listFace(host, {
    title: 'Jobs',
    shown,
    view,
    order: isWorstFirst ? 'worst first' : 'newest first',
    // Totals of the other views are unknown, except the total of disputes, which the inbox counts.
    counts: admin && needs.value !== undefined ? { disputed: needs.value.counts.dispute } : {},
    note: admin ? [] : [dim('own jobs   ')],
    share: LIST_SHARE,
    foot: (area, isSplit) => (isSplit && area.height >= FEED_FROM ? feedLines(model, area) : []),
    drawer: (job, area, isBeside) => (isBeside ? sideLines : belowLines)(job, model, area),
    open: row && ui.pane.open !== 'beside' ? openedJob(row, model) : undefined,
    actions: { ...choosing(host), decide: () => decide(host, rows), giveBack: () => giveBack(host, rows) },
  })
}

/** A drawer below the list takes at most half of the height. */
const LIST_SHARE = 2

/** A job's values for filters. `late` and `open` are computed from its other fields. */
function factsOf(one: Job, now: number | undefined): Facts<typeof jobFields> {
  const { id, status, escrow, payment } = one
  return {
    id,
    status,
    service: [serviceOf(one), one.service_id],
    buyer: [buyerOf(one), one.buyer?.participant_id ?? '', one.buyer?.wallet ?? ''],
    provider: [providerOf(one), one.provider_id ?? ''],
    amount: microOf(one.amount ?? '') ?? null,
    age: Date.parse(one.created_at),
    late: isOverdue(one, now),
    open: workingJobStatuses.some((working) => working === status) || escrow?.status === 'held',
    paid_by: payment?.method ?? null,
  }
}

function tabOf({ pane, jobTab }: Ui): JobTab {
  return pane.open === 'raw' ? 'raw' : jobTab
}

type Wanted = { readonly id: string; readonly admin: boolean; readonly now: number | undefined }
/** Hook that fetches a job once the cursor rests on it, and draws its current tab. */
function useDetail({ link, clock }: Host, { ui, area }: View, { id, admin, now }: Wanted): readonly Line[] {
  const wanted = { id: useSettled(id, clock), admin }
  const name = `job ${JSON.stringify(wanted)}`
  const detail = useQuery(fetchJob(link, wanted, glance), { name, every: SLOW_EVERY_MS })
  useOpened((opened) => fetchJob(link, { id: opened, admin }), { ui, ...wanted })
  const value = detail.value?.job.id === id ? detail.value : undefined
  const tab = tabOf(ui)
  const side = sideOf(area.width)
  const width = ui.pane.open === 'beside' && side > 0 ? side : area.width
  // Rounded to minutes, so that the drawing is reused for a minute.
  const minute = now === undefined ? undefined : now - (now % MINUTE_MS)
  const drawn = useMemo(
    () => (value === undefined ? undefined : linesOf(tab, { detail: value, width, now: minute })),
    [value, tab, width, minute],
  )
  return drawn ?? (id === '' ? [] : waitingLines(detail, width))
}

function choosing({ ui }: Host): Face['actions'] {
  const tab = (by: number) => () => {
    const at = jobTabs.indexOf(tabOf(ui.get())) + by
    const jobTab = jobTabs.at(at % jobTabs.length) ?? 'timeline'
    const { pane } = ui.get()
    ui.set({ ...ui.get(), jobTab, pane: { open: pane.open === 'beside' ? 'beside' : 'full', scroll: 0 } })
  }
  return { nextTab: tab(1), previousTab: tab(-1) }
}

function decide(host: Host, jobs: readonly Job[]): void {
  const rows = meant(host.ui.get(), jobs, ({ id }) => id)
  const other = rows.find(({ status }) => status !== 'disputed')
  if (other) refuse(host, `${other.id} is ${other.status}: a ruling needs a dispute.  → v disputed`)
  else askEach(host, rows, rulingDialog)
}

function giveBack(host: Host, jobs: readonly Job[]): void {
  const rows = meant(host.ui.get(), jobs, ({ id }) => id)
  const other = rows.find((job) => !canGiveBack(job))
  if (other) refuse(host, `${other.id} holds no money: it is ${other.status}.  → v open`)
  else askEach(host, rows, withdrawDialog)
}

type Model = {
  /** The current tab of the chosen job. */
  readonly lines: readonly Line[]
  readonly stream: Stream
  /** The shell command that decides a dispute. */
  readonly commandOf: (id: string) => string
  readonly now: number | undefined
  readonly view: View
}

function openedJob(job: Job, { lines, now, view: { ui, area } }: Model) {
  const head = (place: string) => spread(area.width, partyLine(job, now), [dim(`${place} `)])
  return { lines, note: tabsOf(ui)(area.width - job.id.length), head }
}

/** Minimum height at which the feed is shown. */
const FEED_FROM = 24
const FEED_ROWS = 5

function feedLines({ stream, now, view: { ui } }: Model, { width }: ScreenArea): readonly Line[] {
  const events = stream.events.filter(({ type }) => type.startsWith('job.'))
  const look = { width, height: FEED_ROWS + 1, held: ui.frozen, now, title: 'Live, jobs only' }
  const lines = liveLines({ ...stream, events }, look)
  return Array.from({ length: look.height }, (_, i) => lines[i] ?? blank)
}

/** The lines that fit. Histories and conversations show their end. */
function linesIn({ lines, view }: Model, room: number): readonly Line[] {
  const tab = tabOf(view.ui)
  return tab === 'timeline' || tab === 'messages' ? lines.slice(-room) : lines.slice(0, room)
}

/** The chosen job below the list: its parties, the current tab, and what each possible ruling would pay. */
function belowLines(job: Job, model: Model, { width, height }: ScreenArea): Line[] {
  const rulings = rulingLine(job, width)
  const head = [...tabbedHead(job.id, tabsOf(model.view.ui), { width, isBeside: false }), partyLine(job, model.now)]
  const shown = linesIn(model, Math.max(1, height - head.length - rulings.length))
  return [...head, ...shown, ...rulings]
}

/** The chosen job beside the list: a row per fact, and the command that decides a dispute. */
function sideLines(job: Job, model: Model, { width, height }: ScreenArea): Line[] {
  const { now, view, commandOf } = model
  // The open desk has the sums.
  const rulings = view.ui.dialog ? [] : rulingLines(job, width)
  const foot: Line[] =
    rulings.length === 0
      ? []
      : [
          blank,
          ...rulings,
          blank,
          [
            ' ',
            accent(keyFor('decide', view.keys)),
            ' decide   ',
            accent(keyFor('raw', view.keys)),
            ' json   ',
            accent(keyFor('copyCommand', view.keys)),
            ' copy command',
          ],
          [' ', dim(commandOf(job.id))],
        ]
  const head = [
    ...tabbedHead(job.id, tabsOf(view.ui), { width, isBeside: true }),
    factLine(job, now, width),
    ...partyLines(job, { width, now }),
  ]
  const room = Math.max(1, height - head.length - foot.length - 1)
  return [...head, blank, ...linesIn(model, room), ...foot]
}

const tabTitles: Readonly<Record<JobTab, string>> = {
  timeline: 'story',
  input: 'input',
  deliverables: 'result',
  messages: 'messages',
  money: 'money',
  raw: 'json',
}

const tabsOf = (ui: Ui) => tabWords(Object.values(tabTitles), tabTitles[tabOf(ui)])
