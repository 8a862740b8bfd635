import { useMemo } from 'react'
import { jobFields } from '../../api/endpoint/list-fields.ts'
import type { Facts } from '../../core/filter.ts'
import { microOf } from '../../text/money.ts'
import { shortAddress, shortSpan } from '../../text/text.ts'
import { businessNow, useClock } from '../crons/screen.ts'
import { blank, dim, type Line, lineWidth, type Piece, rule, spread, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import { columnsAt } from '../parts/table.ts'
import { refuse } from '../shell/ask.ts'
import {
  findingOf,
  listTable,
  narrowed,
  sortActions,
  sortedWords,
  titlesOf,
  typedWords,
  useListQuery,
} from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, placeWords, sliceWords } from '../shell/pane.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import type { Face, Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type JobTab, jobTabs, jobViews, type Ui } from '../shell/ui.ts'
import { useQuery } from '../shell/use-query.ts'
import { useSettled } from '../shell/use-settled.ts'
import type { JobDetail, JobOnScreen } from './facts.ts'
import { factLine, leftWord, linesOf, statusWord } from './lines.ts'
import { fetchJob, fetchJobs, JOBS_PAGE, type Jobs } from './rows.ts'
import { rulingDialog } from './ruling-dialog.ts'

/** Rows of the list that stay in sight above a long drawer. */
const LIST_SHARE = 2

/** A hook: the jobs of everybody, or one's own without the admin credential, and all about the chosen one. */
export function useJobs(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const admin = view.where?.admin !== false
  const now = businessNow(useClock(host), view.now)
  const finding = findingOf(ui, 'jobs', jobFields)
  const asked = useListQuery(host, finding, jobFields)
  const which = { view: ui.jobView, page: ui.pages.jobs ?? 0, admin, asked }
  const listed = useQuery(fetchJobs(host.link, which), { name: `jobs ${JSON.stringify(which)}`, every: SLOW_EVERY_MS })
  const found = listed.value?.jobs ?? []
  const here = { fields: jobFields, factsOf: (job: JobOnScreen) => factsOf(job, now), now: now ?? view.now }
  const jobs = admin ? found : narrowed(found, finding, here)
  const ids = jobs.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const { detail, lines } = useDetail(host, view, { id: ids[chosen] ?? '', admin, now })
  const isOpen = ui.pane.open !== 'beside' && chosen >= 0
  const model: Model = { listed, jobs, chosen, detail, lines, isOpen, admin, now, view }
  return {
    ids,
    problem: finding.problem,
    columns: titlesOf(columnsOf(now)),
    draw: (at) => jobLines(model, at),
    actions: {
      ...pageActions(host, listed.value?.total ?? 0, JOBS_PAGE),
      ...sortActions(host, 'jobs', jobFields),
      ...paneActions(host, isOpen ? lines : undefined, lowered(area)),
      ...choosing(host),
      decide: () => decide(host, jobs),
    },
  }
}

/** The facts that the interface knows a job by; `late` and `open` as far as a list tells. */
function factsOf(job: JobOnScreen, now: number | undefined): Facts<typeof jobFields> {
  const isRunning = job.status === 'dispatched' || job.status === 'in_progress'
  return {
    id: job.id,
    status: job.status,
    service: [job.serviceName, job.serviceId],
    buyer: [job.buyerId, job.wallet],
    provider: job.providerId,
    amount: microOf(job.amount) ?? null,
    age: job.createdAt ?? null,
    late: isRunning && job.deadlineAt !== undefined && now !== undefined && job.deadlineAt < now,
    open: isRunning || job.escrow === 'held',
    paid_by: job.paidBy,
  }
}

function tabOf({ pane, jobTab }: Ui): JobTab {
  return pane.open === 'raw' ? 'raw' : jobTab
}

type Wanted = { readonly id: string; readonly admin: boolean; readonly now: number | undefined }
type Detail = { readonly detail: Query<JobDetail | undefined>; readonly lines: readonly Line[] }

/** A hook: asks for a job when the cursor stands still on it, and draws its tab when either changes. */
function useDetail({ link, clock }: Host, { ui, area }: View, { id, admin, now }: Wanted): Detail {
  const wanted = { id: useSettled(id, clock), admin }
  const name = `job ${JSON.stringify(wanted)}`
  const detail = useQuery(fetchJob(link, wanted), { name, every: SLOW_EVERY_MS })
  const value = detail.value?.job.id === id ? detail.value : undefined
  const tab = tabOf(ui)
  const side = sideOf(area.width)
  const width = ui.pane.open === 'beside' && side > 0 ? side : area.width
  // Most of it is the same whatever the second.
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

function decide(host: Host, jobs: readonly JobOnScreen[]): void {
  const rows = meant(host.ui.get(), jobs, ({ id }) => id)
  const other = rows.find(({ status }) => status !== 'disputed')
  if (other) refuse(host, `${other.id} is ${other.status}: only a dispute is decided.  → v disputed`)
  else
    askAll(
      host,
      rows.map((job) => rulingDialog(host, job)),
    )
}

type Model = {
  readonly listed: Query<Jobs>
  readonly jobs: readonly JobOnScreen[]
  readonly chosen: number
  readonly detail: Query<JobDetail | undefined>
  /** Of the tab in sight. */
  readonly lines: readonly Line[]
  readonly isOpen: boolean
  readonly admin: boolean
  /** Business time. */
  readonly now: number | undefined
  readonly view: View
}

function jobLines(model: Model, area: ScreenArea): Line[] {
  const { listed, jobs: rows, chosen, lines, isOpen, now, view } = model
  const job = rows[chosen]
  const tabs = tabWords(tabOf(view.ui), area.width - (job?.id.length ?? 0))
  if (isOpen && job) {
    const { scroll } = view.ui.pane
    const place = placeWords(lines, scroll, lowered(area))
    const facts = spread(area.width, factLine(job), [dim(`${place} `)])
    return [facts, ...openLines(lines, { title: job.id, scroll, note: tabs }, lowered(area))]
  }
  const side = sideOf(area.width)
  const width = side === 0 ? area.width : area.width - side - 1
  const head = [rule(width, 'Jobs'), statusLine(model, width)]
  if (listed.value === undefined) return [...head, ...waitingLines(listed, area.width)]
  if (job === undefined) return [...head, blank, [dim(' no such job')]]
  const room = area.height - 3
  const list = { columns: columnsOf(now), rows, idOf: ({ id }: JobOnScreen) => id, chosen, width }
  if (side > 0) {
    const table = listTable(view.ui, { ...list, height: room })
    const right = drawerLines(job, model, {
      width: side,
      height: area.height,
      tabs: tabWords(tabOf(view.ui), side - job.id.length),
    })
    return joinedPanels([...head, table.head, ...table.body], right, {
      width: area.width,
      split: width,
      height: area.height,
    })
  }
  const drawer = drawerLines(job, model, { width, height: Math.ceil(room / LIST_SHARE), tabs })
  const height = Math.min(rows.length, room - drawer.length)
  const table = listTable(view.ui, { ...list, height })
  return [...head, table.head, ...table.body, ...drawer]
}

const lowered = ({ width, height }: ScreenArea): ScreenArea => ({ width, height: height - 1 })

type Drawer = { readonly width: number; readonly height: number; readonly tabs: Line }

/** What is read from its end shows its end. */
function drawerLines(job: JobOnScreen, { lines, view }: Model, { width, height, tabs }: Drawer): Line[] {
  const room = height - 2
  const tab = tabOf(view.ui)
  const shown = tab === 'timeline' || tab === 'messages' ? lines.slice(-room) : lines.slice(0, room)
  return [rule(width, job.id, tabs), factLine(job), ...shown]
}

function tabWords(current: JobTab, room: number): Line {
  const all = jobTabs.flatMap((tab, i): Piece[] => [
    ...(i === 0 ? [] : [' ']),
    tab === current ? strong(`[${tab}]`) : dim(tab),
  ])
  return lineWidth(all) + 7 <= room ? all : [strong(`[${current}]`)]
}

function statusLine({ listed, jobs, admin, view: { ui, now } }: Model, width: number): Line {
  const views = jobViews.flatMap((name): Piece[] => [' ', name === ui.jobView ? strong(`[${name}]`) : dim(name)])
  const stale = staleness(listed, now)
  const offset = (ui.pages.jobs ?? 0) * JOBS_PAGE
  const words = sliceWords({ offset, rows: jobs.length, total: listed.value?.total ?? 0 })
  const among = listed.value?.among ? warn(`! ${listed.value.among}   `) : ''
  const whose = admin ? '' : dim('own jobs   ')
  return spread(
    width,
    [...views, typedWords(ui, 'jobs')],
    [whose, among, ...sortedWords(ui, 'jobs'), ...(stale ? [warn(`! ${stale}  `)] : []), words, ' '],
  )
}

const columnsOf = columnsAt<JobOnScreen>((now) => [
  { title: 'STATE', value: (job) => statusWord(job, now) },
  { title: 'SERVICE', value: ({ serviceName, serviceId }) => serviceName || serviceId, min: 12 },
  { title: 'BUYER', value: ({ wallet }) => shortAddress(wallet), drop: 3 },
  { title: 'PAID BY', value: ({ paidBy }) => paidBy, drop: 4 },
  { title: 'AMOUNT', value: ({ amount }) => strong(amount), align: 'right', exact: true },
  { title: 'AGE', value: (job) => ageWord(job, now), align: 'right', drop: 1 },
  { title: 'LEFT', value: (job) => leftWord(job, now), align: 'right' },
  { title: 'JOB', value: ({ id }) => dim(id), exact: true, drop: 2 },
])

function ageWord({ createdAt }: JobOnScreen, now: number | undefined): string {
  return createdAt === undefined || now === undefined ? '—' : shortSpan(now - createdAt)
}
