import { useMemo, useSyncExternalStore } from 'react'
import { jobFields } from '../../api/endpoint/list-fields.ts'
import type { Facts } from '../../core/filter.ts'
import { workingJobStatuses } from '../../model/job.ts'
import { buyerOf, isOverdue, type Job, job, providerOf, serviceOf } from '../../nouns/jobs.ts'
import { microOf } from '../../text/columns.ts'
import { liveLines } from '../feed/lines.ts'
import { canGiveBack, rulingDialog, withdrawDialog } from '../job/dialogs.ts'
import type { JobDetail } from '../job/facts.ts'
import { factLine, linesOf, partyLine, partyLines, rulingLine, rulingLines } from '../job/lines.ts'
import { fetchJob, fetchJobs, isWorstFirst, JOBS_PAGE, type Jobs } from '../job/rows.ts'
import { screenColumns } from '../list/screen.ts'
import { accent, blank, dim, type Line, lineWidth, type Piece, rule, spread, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import { columnsAt } from '../parts/table.ts'
import { refuse } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import {
  emptyLines,
  findingOf,
  listHead,
  listTable,
  narrowed,
  sortActions,
  useElsewhere,
  useListQuery,
  useOpened,
  useSettled,
  viewWords,
} from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, placeWords, sliceWords } from '../shell/pane.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { glance, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import type { Stream } from '../shell/stream.ts'
import { chosenIndex, type JobTab, jobTabs, jobViews, type Ui } from '../shell/ui.ts'

/** A drawer below the list takes at most half of the height. */
const LIST_SHARE = 2

/** Hook that returns the jobs and the chosen job. Without the admin key, these are only the user's own jobs. */
export function useJobs(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const admin = view.where?.admin !== false
  const now = businessNow(useClock(host), view.now)
  const finding = findingOf(ui, 'jobs', jobFields)
  const asked = useListQuery(host, finding, jobFields)
  const which = { view: ui.jobView, page: ui.pages.jobs ?? 0, admin, asked }
  const listed = useQuery(fetchJobs(host.link, which), { name: `jobs ${JSON.stringify(which)}`, every: SLOW_EVERY_MS })
  const found = listed.value?.jobs ?? []
  const elsewhere = useElsewhere({
    views: jobViews,
    current: ui.jobView,
    name: `jobs ${JSON.stringify(which)}`,
    admin,
    asked,
    found: listed.value,
    fetchIn: (view) => fetchJobs(host.link, { ...which, view, page: 0 }),
  })
  const here = { fields: jobFields, factsOf: (job: Job) => factsOf(job, now), now: now ?? view.now }
  const narrow = (some: readonly Job[]) => (admin ? some : narrowed(some, finding, here))
  const jobs = narrow(found)
  const fetch = (page: number) => fetchJobs(host.link, { ...which, page })
  const rowsOf = (page: Jobs) => narrow(page.jobs)
  const paged = { total: listed.value?.total, size: JOBS_PAGE, fetch, rowsOf }
  const ids = jobs.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const { detail, lines } = useDetail(host, view, { id: ids[chosen] ?? '', admin, now })
  const isOpen = ui.pane.open !== 'beside' && chosen >= 0
  const stream = useSyncExternalStore(host.stream.subscribe, host.stream.get)
  const commandOf = (id: string) => shellCommand(host, ['admin', 'jobs', 'resolve', id])
  const model: Model = { listed, elsewhere, jobs, chosen, detail, lines, isOpen, admin, now, view, stream, commandOf }
  return {
    ids,
    problem: finding.problem,
    list: listOf({ columns: columnsOf(now), rows: jobs, idOf: job.idOf, paged }),
    draw: (at) => jobLines(model, at),
    actions: {
      ...pageActions(host, listed.value?.total ?? 0, JOBS_PAGE),
      ...sortActions(host, 'jobs', jobFields),
      ...paneActions(host, isOpen ? lines : undefined, lowered(area)),
      ...choosing(host),
      decide: () => decide(host, jobs),
      giveBack: () => giveBack(host, jobs),
    },
  }
}

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
type Detail = { readonly detail: Query<JobDetail | undefined>; readonly lines: readonly Line[] }

/** Hook that fetches a job once the cursor rests on it, and draws its current tab. */
function useDetail({ link, clock }: Host, { ui, area }: View, { id, admin, now }: Wanted): Detail {
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
  return { detail, lines: drawn ?? (id === '' ? [] : waitingLines(detail, width)) }
}

const MINUTE_MS = 60_000

function choosing({ ui }: Host): Face['actions'] {
  const tab = (by: number) => () => {
    const at = jobTabs.indexOf(tabOf(ui.get())) + by
    const jobTab = jobTabs.at(at % jobTabs.length) ?? 'timeline'
    const { pane } = ui.get()
    ui.set({ ...ui.get(), jobTab, pane: { open: pane.open === 'beside' ? 'beside' : 'full', scroll: 0 } })
  }
  return {
    nextTab: tab(1),
    previousTab: tab(-1),
    view() {
      const { jobView, pages } = ui.get()
      const next = jobViews[(jobViews.indexOf(jobView) + 1) % jobViews.length]
      if (next !== undefined) ui.set({ ...ui.get(), jobView: next, pages: { ...pages, jobs: 0 } })
    },
  }
}

function decide(host: Host, jobs: readonly Job[]): void {
  const rows = meant(host.ui.get(), jobs, ({ id }) => id)
  const other = rows.find(({ status }) => status !== 'disputed')
  if (other) refuse(host, `${other.id} is ${other.status}: a ruling needs a dispute.  → v disputed`)
  else
    askAll(
      host,
      rows.map((job) => rulingDialog(host, job)),
    )
}

function giveBack(host: Host, jobs: readonly Job[]): void {
  const rows = meant(host.ui.get(), jobs, ({ id }) => id)
  const other = rows.find((job) => !canGiveBack(job))
  if (other) refuse(host, `${other.id} holds no money: it is ${other.status}.  → v open`)
  else
    askAll(
      host,
      rows.map((job) => withdrawDialog(host, job)),
    )
}

type Model = {
  readonly listed: Query<Jobs>
  /** Other views in which the filter matches, in words. Empty if there are none. */
  readonly elsewhere: string
  readonly jobs: readonly Job[]
  readonly chosen: number
  readonly detail: Query<JobDetail | undefined>
  readonly lines: readonly Line[]
  readonly isOpen: boolean
  readonly admin: boolean
  readonly stream: Stream
  /** The shell command that decides a dispute. */
  readonly commandOf: (id: string) => string
  /** Business time. */
  readonly now: number | undefined
  readonly view: View
}

function jobLines(model: Model, area: ScreenArea): Line[] {
  const { listed, elsewhere, jobs: rows, chosen, lines, isOpen, now, view } = model
  const row = rows[chosen]
  if (isOpen && row) {
    const tabs = tabWords(tabOf(view.ui), area.width - row.id.length)
    const { scroll } = view.ui.pane
    const place = placeWords(lines, scroll, lowered(area))
    const facts = spread(area.width, partyLine(row, now), [dim(`${place} `)])
    return [facts, ...openLines(lines, { title: row.id, scroll, note: tabs }, lowered(area))]
  }
  const side = sideOf(area.width)
  const width = side === 0 ? area.width : area.width - side - 1
  const head = headLines(model, width)
  if (listed.value === undefined) return [...head, ...waitingLines(listed, area.width)]
  if (row === undefined) {
    const asked = { view: view.ui.jobView, filter: view.ui.filters.jobs, elsewhere, width }
    return [...head, blank, ...emptyLines(job, asked)]
  }
  if (side > 0) return besideLines(row, model, area)
  const room = area.height - 3
  const drawer = belowLines(row, model, { width, height: Math.ceil(room / LIST_SHARE) })
  const height = Math.min(rows.length, room - drawer.length)
  const idOf = ({ id }: Job) => id
  const table = listTable(view.ui, { columns: columnsOf(now), rows, idOf, chosen, width, height })
  return [...head, table.head, ...table.body, ...drawer]
}

/** The list with the feed below it, and the chosen job at the right. */
function besideLines(job: Job, model: Model, area: ScreenArea): Line[] {
  const { jobs: rows, chosen, now, view, stream } = model
  const side = sideOf(area.width)
  const width = area.width - side - 1
  const feed = area.height >= FEED_FROM ? FEED_ROWS + 1 : 0
  const idOf = ({ id }: Job) => id
  const room = area.height - 3 - feed
  const table = listTable(view.ui, { columns: columnsOf(now), rows, idOf, chosen, width: width - 1, height: room })
  const events = stream.events.filter(({ type }) => type.startsWith('job.'))
  const held = view.ui.frozen
  const live = liveLines({ ...stream, events }, { width, height: feed, held, now, title: 'Live, jobs only' })
  const left = [...headLines(model, width), table.head, ...table.body, ...live]
  const right = sideLines(job, model, { width: side, height: area.height })
  return joinedPanels(left, right, { width: area.width, split: width, height: area.height })
}

/** Minimum height at which the feed is shown. */
const FEED_FROM = 24
const FEED_ROWS = 5

const lowered = ({ width, height }: ScreenArea): ScreenArea => ({ width, height: height - 1 })

/** The lines that fit. Histories and conversations show their end. */
function linesIn({ lines, view }: Model, room: number): readonly Line[] {
  const tab = tabOf(view.ui)
  return tab === 'timeline' || tab === 'messages' ? lines.slice(-room) : lines.slice(0, room)
}

/** The chosen job below the list: its parties, the current tab, and what each possible ruling would pay. */
function belowLines(job: Job, model: Model, { width, height }: ScreenArea): Line[] {
  const rulings = rulingLine(job, width)
  const tabs = tabWords(tabOf(model.view.ui), width - job.id.length)
  const head = [rule(width, job.id, tabs), partyLine(job, model.now)]
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
  const whole: Line = [accent('enter'), dim(' whole screen')]
  const tabs = tabWords(tabOf(view.ui), width)
  const head = [
    rule(width, job.id, whole),
    spread(width, [' ', ...tabs], [dim('←→ ')]),
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

function tabWords(current: JobTab, room: number): Line {
  const all = jobTabs.flatMap((tab, i): Piece[] => [
    ...(i === 0 ? [] : ['  ']),
    tab === current ? strong(`[${tabTitles[tab]}]`) : dim(tabTitles[tab]),
  ])
  return lineWidth(all) + 7 <= room ? all : [strong(`[${tabTitles[current]}]`)]
}

function headLines({ listed, jobs, admin, view: { ui, now, keys, needs } }: Model, width: number): Line[] {
  const offset = (ui.pages.jobs ?? 0) * JOBS_PAGE
  const total = listed.value?.total
  // Totals of the other views are unknown, except the total of disputes, which the inbox counts.
  const disputed = admin && needs.value !== undefined ? { disputed: needs.value.counts.dispute } : {}
  const isWhole = total !== undefined && !ui.filters.jobs
  const counts = { ...disputed, ...(isWhole ? { [ui.jobView]: total } : {}) }
  const note: Line = [
    ...(admin ? [] : [dim('own jobs   ')]),
    ...(listed.value?.among ? [warn(`! ${listed.value.among}   `)] : []),
  ]
  return listHead(width, {
    title: 'Jobs',
    place: sliceWords({ offset, rows: jobs.length, total: total ?? 0 }),
    stale: staleness(listed, now),
    views: viewWords(jobViews, ui.jobView, counts),
    ui,
    screen: 'jobs',
    keys,
    order: admin && isWorstFirst(ui.jobView) ? 'worst first' : 'newest first',
    note,
  })
}

const columnsOf = columnsAt<Job>((now) => screenColumns(job, now))
