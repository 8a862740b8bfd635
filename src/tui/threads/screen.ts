import { threadFields } from '../../api/endpoint/list-fields.ts'
import type { Facts } from '../../core/filter.ts'
import { buyerOf, thread as conversation, priceOf, providerOf, serviceOf, type Thread } from '../../nouns/threads.ts'
import { microOf } from '../../text/columns.ts'
import { clip, padEnd, safe, wrap } from '../../text/text.ts'
import { clockTime, dateTime } from '../../text/time.ts'
import { screenColumns } from '../list/screen.ts'
import { accent, active, blank, dim, hair, type Line, type Piece, rule, strong } from '../parts/line.ts'
import { joinedPanels } from '../parts/panels.ts'
import { columnsAt } from '../parts/table.ts'
import { toItsJob } from '../shell/ask.ts'
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
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, placeWords, sliceWords } from '../shell/pane.ts'
import { glance, SLOW_EVERY_MS } from '../shell/queries.ts'
import { ONCE_MS, type Query, useQuery } from '../shell/query.ts'
import { listOf } from '../shell/rows.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, threadViews } from '../shell/ui.ts'
import { threadActs, threadHints } from './acts.ts'
import { fetchIsHouse, fetchThread, fetchThreads, THREADS_PAGE, type Threads } from './facts.ts'
import { nextLines } from './next.ts'

/** From this width the conversation is shown beside the list. */
const PANES_FROM = 100
const LIST_SHARE = 0.45
const LIST_COLUMNS_MAX = 80

export function useThreads(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const admin = view.where?.admin !== false
  // The instance logs each read by the operator, so nothing is fetched repeatedly.
  const every = admin ? ONCE_MS : SLOW_EVERY_MS
  const finding = findingOf(ui, 'threads', threadFields)
  const which = {
    admin,
    view: ui.threadView,
    page: ui.pages.threads ?? 0,
    asked: useListQuery(host, finding, threadFields),
  }
  const listed = useQuery(fetchThreads(host.link, which), { name: `threads ${JSON.stringify(which)}`, every })
  const elsewhere = useOtherViews(host, which, listed.value)
  const now = businessNow(useClock(host), view.now)
  const found = listed.value?.threads ?? []
  const here = { fields: threadFields, factsOf, now: now ?? view.now }
  const narrow = (some: readonly Thread[]) => (admin ? some : narrowed(some, finding, here))
  const threads = narrow(found)
  const fetch = (page: number) => fetchThreads(host.link, { ...which, page })
  const rowsOf = (page: Threads) => narrow(page.threads)
  const paged = { total: listed.value?.total, size: THREADS_PAGE, fetch, rowsOf }
  const ids = threads.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const id = useSettled(ids[chosen] ?? '', host.clock)
  const whole = useQuery(fetchThread(host.link, { id, admin }, glance), { name: `thread ${id} ${admin}`, every })
  useOpened((opened) => fetchThread(host.link, { id: opened, admin }), { ui, id, admin })
  const me = useVoice(host, view)
  const row = threads[chosen]
  const foreign = useForeign(host, row, { admin, me })
  const thread = whole.value !== undefined && whole.value.id === row?.id ? whole.value : row
  const isOpen = ui.pane.open !== 'beside' && thread !== undefined
  const lines = thread === undefined ? [] : talkLines(thread, { width: area.width, now })
  const isForeign = foreign !== undefined
  const model: Model = { listed, elsewhere, threads, chosen, thread, admin, isForeign, isOpen, now, view }
  const voice = { me, speaker: ui.speaker, foreign }
  const { raw: _raw, ...moving } = paneActions(host, isOpen ? lines : undefined, area)
  return {
    ids,
    problem: finding.problem,
    list: listOf({ columns: columnsOf(now), rows: threads, idOf: conversation.idOf, paged }),
    draw: (at) => threadLines(model, at),
    actions: {
      ...pageActions(host, listed.value?.total ?? 0, THREADS_PAGE),
      ...sortActions(host, 'threads', threadFields),
      ...moving,
      itsJob: () => toItsJob(host, [threads[chosenIndex(host.ui.get(), ids)]?.job_id ?? '']),
      view: () => viewNext(host),
      ...threadActs(host, threads, voice),
    },
    hints: threadHints(row, voice),
  }
}

/** Hook that returns the id of the participant who writes, if known. */
function useVoice({ link }: Host, { ui }: View): string | undefined {
  const self = useQuery(link.self, { name: 'self', every: SLOW_EVERY_MS })
  return ui.speaker?.id ?? self.value
}

/** A hook that returns the other views in which the filter matches, if the current view has no match. */
function useOtherViews({ link }: Host, which: Parameters<typeof fetchThreads>[1], found: Threads | undefined): string {
  const { admin, asked, view: current } = which
  const name = `threads ${JSON.stringify(which)}`
  const fetchIn = (view: typeof current) => fetchThreads(link, { ...which, view, page: 0 })
  return useElsewhere({ views: threadViews, current, name, admin, asked, found, fetchIn })
}

function viewNext({ ui }: Host): void {
  const { threadView, pages } = ui.get()
  const next = threadViews[(threadViews.indexOf(threadView) + 1) % threadViews.length]
  if (next !== undefined) ui.set({ ...ui.get(), threadView: next, pages: { ...pages, threads: 0 } })
}

type Looking = { readonly admin: boolean; readonly me: string | undefined }

/** A React hook: returns the provider's id if the operator may only read this conversation, otherwise undefined. */
function useForeign({ link }: Host, row: Thread | undefined, { admin, me }: Looking): string | undefined {
  const provider = row?.provider_id ?? ''
  const isHouse = useQuery(fetchIsHouse(link, admin ? provider : ''), { name: `house ${provider}`, every: ONCE_MS })
  const isStrange = isHouse.value === false && me !== provider && me !== row?.agent_id
  return isStrange ? provider : undefined
}

function factsOf(thread: Thread): Facts<typeof threadFields> {
  return {
    id: thread.id,
    status: thread.status,
    service: serviceOf(thread),
    buyer: [buyerOf(thread), thread.agent_id ?? ''],
    provider: [providerOf(thread), thread.provider_id],
    amount: microOf(priceOf(thread) ?? '') ?? null,
    age: Date.parse(thread.updated_at),
  }
}

type Model = {
  readonly listed: Query<Threads>
  /** Names of other views with conversations that match the filter; empty if there are none. */
  readonly elsewhere: string
  readonly threads: readonly Thread[]
  readonly chosen: number
  readonly thread: Thread | undefined
  readonly admin: boolean
  /** The operator may only read this conversation. */
  readonly isForeign: boolean
  readonly isOpen: boolean
  /** Business time. */
  readonly now: number | undefined
  readonly view: View
}

function threadLines(model: Model, area: ScreenArea): Line[] {
  const { listed, elsewhere, thread, isOpen, now, view } = model
  if (listed.value === undefined) return [...headLines(model, area.width), ...waitingLines(listed, area.width)]
  if (thread === undefined) {
    const asked = { view: view.ui.threadView, filter: view.ui.filters.threads, elsewhere, width: area.width }
    return [...headLines(model, area.width), blank, ...emptyLines(conversation, asked)]
  }
  if (isOpen) {
    const lines = talkLines(thread, { width: area.width, now })
    const note = [dim(placeWords(lines, view.ui.pane.scroll, area))]
    return openLines(lines, { title: `Threads → ${thread.id}`, scroll: view.ui.pane.scroll, note }, area)
  }
  if (area.width < PANES_FROM) {
    const talk = Math.ceil(area.height / 2)
    return [
      ...listLines(model, { width: area.width, height: area.height - talk }),
      ...paneLines(thread, model, { width: area.width, height: talk }),
    ]
  }
  const split = Math.min(LIST_COLUMNS_MAX, Math.round(area.width * LIST_SHARE))
  const left = listLines(model, { width: split, height: area.height })
  const right = paneLines(thread, model, { width: area.width - split - 1, height: area.height })
  return joinedPanels(left, right, { width: area.width, split, height: area.height })
}

function headLines({ threads, listed, view: { ui, now, keys } }: Model, width: number): Line[] {
  const offset = (ui.pages.threads ?? 0) * THREADS_PAGE
  const total = listed.value?.total
  const counts = total === undefined || ui.filters.threads ? undefined : { [ui.threadView]: total }
  return listHead(width, {
    title: 'Threads',
    place: sliceWords({ offset, rows: threads.length, total: total ?? 0 }),
    stale: staleness(listed, now),
    views: viewWords<string>(threadViews, ui.threadView, counts),
    ui,
    screen: 'threads',
    keys,
    order: 'last changed first',
  })
}

/** A line below the list: who reads, and as whom messages are written. */
function lookLine({ admin, view: { ui } }: Model, width: number): Line {
  const name = ui.speaker?.wallet
  if (name !== undefined)
    return [dim(' you write as '), strong(clip(name, Math.max(1, width - 30))), dim('   :as ends it')]
  const wishes = [
    'Read-only as administrator; opening is logged. To write:  :as NAME',
    'Opening is logged; to write:  :as NAME',
  ]
  return [dim(` ${admin ? (wishes.find((words) => words.length < width) ?? 'Opening is logged.') : 'own ones'}`)]
}

function listLines(model: Model, { width, height }: ScreenArea): Line[] {
  const { threads: rows, chosen, now, view } = model
  const list = { columns: columnsOf(now), rows, idOf: conversation.idOf, chosen }
  const table = listTable(view.ui, { ...list, width: width - 1, height: Math.max(1, height - 4) })
  return [...headLines(model, width), table.head, ...table.body, lookLine(model, width)]
}

const columnsOf = columnsAt<Thread>((now) => screenColumns(conversation, now))

const stages = ['asked', 'offered', 'agreed', 'at work', 'delivered', 'paid'] as const
const stageOf: Readonly<Record<Thread['status'], number>> = {
  inquiry: 0,
  negotiating: 1,
  accepted: 2,
  in_progress: 3,
  completed: 4,
  disputed: 4,
  verified: 5,
  cancelled: -1,
}

/** How far a conversation has come, from question to payment. */
function stageLine({ status }: Thread, width: number): Line {
  const reached = stageOf[status]
  const isRoomy = width >= ROOMY_STAGES
  return stages.flatMap((stage, i): Piece[] => {
    const line = i <= reached ? accent(' ━ ') : hair(' ─ ')
    const step = i === 0 ? ' ' : line
    if (i === reached) return [step, isRoomy ? active(` ${stage} `) : active(stage)]
    return [step, i < reached ? strong(stage) : dim(stage)]
  })
}

const ROOMY_STAGES = 60

/** The newest messages of a conversation, and what can be done next. */
function paneLines(thread: Thread, model: Model, { width, height }: ScreenArea): Line[] {
  const [stage = blank, gap = blank, ...said] = talkLines(thread, { width, now: model.now })
  const next = nextLines(thread, { ...model, width })
  const room = Math.max(1, height - 3 - next.length)
  const shown = said.slice(-room)
  const filler = Array.from({ length: Math.max(0, room - shown.length) }, () => blank)
  const title = `${safe(serviceOf(thread))}, since ${whenOf(Date.parse(thread.created_at), model.now)}`
  return [rule(width, thread.id, [dim(clip(title, width))]), stage, gap, ...shown, ...filler, ...next]
}

const WHO_COLUMNS = 10
const DATE_CHARS = 10
const DAY_MS = 86_400_000

function talkLines(
  thread: Thread,
  { width, now }: { readonly width: number; readonly now: number | undefined },
): Line[] {
  const said = (thread.messages ?? []).flatMap((one) => saidLines(thread, one, { width, now }))
  const offer = thread.proposal
  const open: Line[] =
    offer === null
      ? []
      : [
          blank,
          [
            ' ',
            dim('offer '),
            strong(`$${offer.price}`),
            dim('  the buyer pays '),
            strong(`$${offer.agent_price}`),
            `  ${safe(offer.estimated_delivery ?? '')}  `,
            dim(offer.status),
          ],
        ]
  const none: Line[] = said.length + open.length === 0 ? [[dim(' no messages')]] : []
  return [stageLine(thread, width), blank, ...said, ...open, ...none]
}

function saidLines(
  thread: Thread,
  { created_at, author_role: role, body, file_id }: NonNullable<Thread['messages']>[number],
  { width, now }: { readonly width: number; readonly now: number | undefined },
): Line[] {
  const when = whenOf(Date.parse(created_at), now)
  const who = { buyer: buyerOf, provider: providerOf, system: () => 'souk' }[role](thread)
  const words = safe(`${body}${file_id === undefined ? '' : `  @ ${file_id}`}`)
  const left = when.length + WHO_COLUMNS + 4
  return wrap(words, Math.max(1, width - left - 1)).map(
    (text, i): Line =>
      i === 0
        ? [dim(` ${when}  `), strong(padEnd(clip(safe(who), WHO_COLUMNS), WHO_COLUMNS)), ` ${text}`]
        : [' '.repeat(left), text],
  )
}

/** The time if it is less than a day ago, else the date. */
function whenOf(at: number, now: number | undefined): string {
  const isToday = now !== undefined && Math.abs(now - at) < DAY_MS
  return isToday ? clockTime(at).slice(0, 5) : dateTime(at).slice(0, DATE_CHARS)
}
