import { threadFields } from '../../api/endpoint/list-fields.ts'
import type { Link } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { DAY_MS } from '../../core/time.ts'
import { buyerOf, thread as conversation, priceOf, providerOf, serviceOf, type Thread } from '../../nouns/threads.ts'
import { microOf } from '../../text/columns.ts'
import { clip, padEnd, safe, widthOf, wrap } from '../../text/text.ts'
import { clockTime, dateTime } from '../../text/time.ts'
import { listFace } from '../list/nouns.ts'
import { listRows } from '../list/rows.ts'
import { accent, active, blank, dim, hair, type Line, lineWidth, type Piece, rule, strong } from '../parts/line.ts'
import { toItsJob } from '../shell/ask.ts'
import { keyFor } from '../shell/bindings.ts'
import { useOpened, useSettled } from '../shell/finding.ts'
import { fetching, fetchNothing, glance, SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Fetch, ONCE_MS, useQuery } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex, type ThreadView, threadViews } from '../shell/ui.ts'
import { threadActs, threadHints } from './acts.ts'

/** From this width the conversation is shown beside the list. */
const PANES_FROM = 100
const SPLIT_SHARE = 0.45
const LIST_COLUMNS_MAX = 80
/** A conversation below the list takes half of the height. */
const LIST_SHARE = 2

const useRows = listRows<Thread>({
  id: 'threads',
  noun: conversation,
  fields: threadFields,
  views: {
    all: threadViews,
    at: 'threadView',
    asked: {
      open: { filter: 'status:inquiry,negotiating,accepted,in_progress,disputed' },
      disputed: { filter: 'status:disputed' },
      over: { filter: 'status:completed,verified,cancelled' },
      all: {},
    } satisfies Record<ThreadView, object>,
  },
  own: { list: 'listThreads', factsOf },
})

export const screen: Screen = { title: 'Threads', short: 'Thrd', use: useThreads }

function useThreads(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const admin = view.where?.admin !== false
  // The instance logs each read by the operator, so nothing is fetched repeatedly.
  const every = admin ? ONCE_MS : SLOW_EVERY_MS
  const shown = useRows(host, view, every)
  const { row, rows, now } = shown
  const id = useSettled(row?.id ?? '', host.clock)
  const whole = useQuery(fetchThread(host.link, { id, admin }, glance), { name: `thread ${id} ${admin}`, every })
  useOpened((opened) => fetchThread(host.link, { id: opened, admin }), { ui, id, admin })
  const me = useVoice(host, view)
  const foreign = useForeign(host, row, { admin, me })
  const model: Model = { whole: whole.value, admin, isForeign: foreign !== undefined, now, view }
  const voice = { me, speaker: ui.speaker, foreign }
  const lines =
    row && ui.pane.open !== 'beside' ? talkLines(knownOf(row, model), { width: area.width, now }) : undefined
  return listFace(host, {
    title: 'Threads',
    shown,
    view,
    order: 'last changed first',
    share: LIST_SHARE,
    sideOf: (width) =>
      width < PANES_FROM ? 0 : width - 1 - Math.min(LIST_COLUMNS_MAX, Math.round(width * SPLIT_SHARE)),
    foot: ({ width }) => [lookLine(model, width)],
    drawer: (thread, at) => paneLines(knownOf(thread, model), model, at),
    open: lines && { lines, title: `Threads → ${row?.id}` },
    actions: {
      itsJob: () => toItsJob(host, [rows[chosenIndex(host.ui.get(), shown.face.ids)]?.job_id ?? '']),
      ...threadActs(host, rows, voice),
    },
    hints: threadHints(row, voice),
  })
}

/** The conversation with its messages, once they are known. */
function knownOf(row: Thread, { whole }: Model): Thread {
  return whole?.id === row.id ? whole : row
}

/** Hook that returns the id of the participant who writes, if known. */
function useVoice({ link }: Host, { ui }: View): string | undefined {
  const self = useQuery(link.self, { name: 'self', every: SLOW_EVERY_MS })
  return ui.speaker?.id ?? self.value
}

const MESSAGES = 100

/** Whether the provider is the marketplace itself (`house`). The operator may then write for it. */
const fetchIsHouse = (link: Link, id: string): Fetch<boolean | undefined> =>
  id === '' ? fetchNothing : fetching('getParticipant', { params: { id } }, ({ first_party }) => first_party)(link)

/** Fetches a conversation with its newest messages. Undefined without an id. */
export function fetchThread(
  link: Link,
  { id, admin }: { readonly id: string; readonly admin: boolean },
  headers?: typeof glance,
): Fetch<Thread | undefined> {
  const asked = { params: { id }, query: { limit: String(MESSAGES) } }
  if (id === '') return fetchNothing
  if (!admin) return fetching('getThread', asked, (thread) => thread)(link)
  return fetching('readAnyThread', { ...asked, ...(headers && { headers }) }, (thread) => thread)(link)
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
  /** The chosen conversation with its messages. */
  readonly whole: Thread | undefined
  readonly admin: boolean
  /** The operator may only read this conversation. */
  readonly isForeign: boolean
  readonly now: number | undefined
  readonly view: View
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

/** Minimum width for the hint that says how to write as a party of the conversation. */
const ROOMY_COLUMNS = 60
/** The command is indented by this many columns. */
const SAME_COLUMNS = 10

type Next = {
  readonly admin: boolean
  /** Whether the conversation belongs to others and the operator may only read it. */
  readonly isForeign: boolean
  readonly view: View
  readonly width: number
}

/** What can be done next, with the keys and a shell command. The operator sees who may answer. */
function nextLines(thread: Thread, next: Next): Line[] {
  const { admin, view, width } = next
  const { speaker } = view.ui
  const command = sameAs(thread, next)
  const as = speaker === undefined ? '' : ` --as ${speaker.wallet}`
  return [
    [hair('─'.repeat(width))],
    actsLine(thread, next),
    ...(admin && speaker === undefined ? [whoseLine(thread, next)] : []),
    [dim(' same as  '), widthOf(command + as) + SAME_COLUMNS <= width ? command + as : command],
  ]
}

function actsLine(thread: Thread, { view: { keys, ui }, width }: Next): Line {
  const key = (action: Parameters<typeof keyFor>[0], word: string): Line => [
    accent(keyFor(action, keys)),
    ` ${word}   `,
  ]
  const pays = mayAccept(thread, ui) ? key('add', `accept, pay ${priceOf(thread)}`) : []
  const isBegun = thread.status === 'inquiry' || thread.status === 'negotiating'
  const does = isBegun ? key('remove', 'decline') : []
  const who: Line = [dim(` as ${clip(ui.speaker?.wallet ?? safe(buyerOf(thread)), WHO_COLUMNS)}   `)]
  const all = [...who, ...pays, ...does, ...key('write', 'write'), ...key('attach', 'attach')]
  return lineWidth(all) <= width ? all : [...who, ...pays]
}

function whoseLine(thread: Thread, { isForeign, width }: Next): Line {
  const whose = isForeign
    ? `only ${clip(safe(providerOf(thread)), WHO_COLUMNS)} answers here`
    : 'i: write as the marketplace'
  return [dim(` ${whose}${width >= ROOMY_COLUMNS ? '; as a party:  :as NAME' : ''}`)]
}

function sameAs(thread: Thread, { view: { ui } }: Next): string {
  // The command names the price, so that no more can be paid.
  return mayAccept(thread, ui)
    ? `souk threads accept ${thread.id} --max-price ${thread.proposal?.agent_price}`
    : `souk threads send ${thread.id} …`
}

function mayAccept({ proposal, agent_id }: Thread, { speaker }: View['ui']): boolean {
  return proposal?.status === 'open' && (speaker === undefined || speaker.id === agent_id)
}
