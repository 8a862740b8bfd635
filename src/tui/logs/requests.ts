import { useMemo, useState } from 'react'
import type { Api, WireAnswer } from '../../api/index.ts'
import { endpoints } from '../../client/endpoints.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { Facts } from '../../core/filter.ts'
import type { PaymentFault } from '../../core/payment-fault.ts'
import { HOUR_MS } from '../../core/time.ts'
import { microOf } from '../../text/columns.ts'
import { count, shortAddress } from '../../text/text.ts'
import { timeOrDay } from '../../text/time.ts'
import { facedRows } from '../list/rows.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, bad, columnsAt, dim, good, type Line, type Piece, textOf, warn, windowStart } from '../parts/line.ts'
import { toItsJob } from '../shell/ask.ts'
import { findingOf, narrowed, useSettled } from '../shell/finding.ts'
import { ask, fetching, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text } from '../shell/read.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { type LogView, logTabs } from '../shell/ui.ts'
import { chosenIn, type Listed, listedFace, logsList, tabIn, titleIn } from './listed.ts'
import { storyLines, useStory } from './story.ts'

/** A logged request. Its number of steps is null until it is known. */
export type SeenRequest = WireAnswer<'listRequests'>['requests'][number]

const empty: Readonly<Record<AskedView, string>> = {
  requests: 'no requests yet: every request to the API is listed',
  paid: 'no paid requests yet: a buyer pays with souk buy SERVICE',
  refused: 'no refused requests: the gate let all of them pass',
  admin: 'no changes by the operator yet: capital keys make them, such as P',
}

/** A React hook that returns the requests with their traces. */
export function useAsked(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const asked = viewOf(view)
  const query = useQuery(fetchRequests(host.link), { name: 'requests', every: host.refreshMs })
  const all = useMemo(() => (query.value ?? []).filter(isIn[asked]), [query.value, asked])
  const finding = findingOf(ui, 'logs', askedFields)
  const found = joined(narrowed(all, finding, { fields: askedFields, factsOf: askedOf, now: view.now }))
  const ids = found.map(({ id }) => id)
  const chosen = chosenIn(ui, ids)
  const counts = useCounts(host, inSight(ids, chosen, area.height))
  const rows = found.map((one) => counted(one, counts.get(one.id)))
  const story = useStory(host, ids[chosen] ?? '')
  const row = rows[chosen]
  const drawer = (width: number): readonly Line[] =>
    tabIn(ui, logTabs) === 'json' ? jsonLines(found[chosen]) : storyLines(story, width)
  // The columns change only once an hour, so that drawn rows can be reused.
  const columns = columnsOf(view.now - (view.now % HOUR_MS))
  const list = logsList(askedFields)
  const listed: Listed<SeenRequest> = {
    shown: facedRows<SeenRequest>(host, view, {
      list,
      columns,
      rows,
      listed: query,
      problem: finding.problem,
      chosenIn,
    }),
    titleOf: ({ id }) => titleIn(ui, story, id),
    of: count(joined(all).length),
    empty: empty[asked],
    drawer,
    tabs: logTabs,
    view,
  }
  const steps = story?.id === row?.id ? (story?.steps ?? []) : []
  const told = [text(row?.job_id), text(row?.path), ...steps.map(({ id }) => id ?? '')]
  const face = listedFace(host, listed, { itsJob: () => toItsJob(host, told) })
  return { ...face, who: () => [row?.caller, ...told] }
}

/** A row stays the same object until its number of steps changes, since drawings are cached by row. */
const known = new WeakMap<SeenRequest, SeenRequest>()

function counted(asked: SeenRequest, steps: number | undefined): SeenRequest {
  if (steps === undefined) return asked
  const before = known.get(asked)
  if (before?.steps === steps) return before
  const row = { ...asked, steps }
  known.set(asked, row)
  return row
}

function viewOf({ ui }: View): AskedView {
  const { view } = ui.logs
  return view === 'paid' || view === 'refused' || view === 'admin' ? view : 'requests'
}

/** Ids of the visible rows, at most `COUNTED_MAX`. */
function inSight(ids: readonly string[], chosen: number, height: number): readonly string[] {
  const many = Math.min(height, COUNTED_MAX)
  const first = windowStart({ rows: ids, chosen, height: many })
  return ids.slice(first, first + many)
}

const COUNTS_KEPT = 1_000

/** Hook that fetches the step counts of visible rows, and keeps those of rows that were visible earlier. */
function useCounts(host: Host, ids: readonly string[]): StepCounts {
  const wanted = useSettled(ids.join(','), host.clock)
  const told = useQuery(fetchSteps(host.link, wanted), { name: `steps ${wanted}`, every: SLOW_EVERY_MS })
  const [known] = useState(() => new Map<string, number>())
  if (known.size > COUNTS_KEPT) known.clear()
  for (const [id, steps] of told.value ?? []) known.set(id, steps)
  return known
}

/** In place of a status or a duration: not yet known, or not kept over the last start. */
const absent = { whole: '…', part: '—' } as const

const columnsOf = columnsAt<SeenRequest>((now = 0) => [
  { title: 'TIME', value: ({ at }) => timeOrDay(Date.parse(at), now) },
  { title: 'WHAT', value: askedWord },
  { title: 'SERVICE', value: ({ service }) => text(service) || '—', min: 12 },
  { title: 'VERB', value: ({ method }) => text(method), drop: 5 },
  // Path as in the contract: `/v1/jobs/:id`. The trace has the real ids.
  { title: 'PATH', value: ({ endpoint, path }) => text(routes.get(endpoint ?? '') ?? path), min: 16, drop: 1 },
  { title: 'HTTP', value: ({ status, remembered }) => String(status ?? absent[remembered]), drop: 6 },
  {
    title: 'TOOK',
    value: ({ ms, remembered }) => (ms === null ? absent[remembered] : `${count(ms)} ms`),
    align: 'right',
    drop: 2,
  },
  { title: 'WHO', value: (asked) => whoOf(asked) || '—', min: 8, drop: 3 },
  { title: 'PRICE', value: priceOf, align: 'right', exact: true },
  { title: 'STEPS', value: ({ steps }) => dim(stepsWord(steps)), exact: true, drop: 4 },
])

function stepsWord(steps: number | null): string {
  if (steps === null) return ''
  return `${count(steps)} ${steps === 1 ? 'step' : 'steps'}`
}

const REQUESTS = 500
const BROKEN_FROM = 400
const WALLET = /^0x[0-9a-fA-F]{40}$/

/** Newest first. */
const fetchRequests = fetching('listRequests', { query: { limit: String(REQUESTS) } }, ({ requests }) =>
  requests.toReversed(),
)

const routes = new Map<string, string>(Object.entries(endpoints).map(([name, [, path]]) => [name, path]))

function whoOf({ name, caller }: SeenRequest): string {
  const who = text(name) || text(caller)
  return WALLET.test(who) ? shortAddress(who) : who
}

const priceOf = ({ price }: SeenRequest) => (price === null ? '' : `$${price}`)

const isOperators = ({ caller, path }: SeenRequest) => caller === 'admin' || path.startsWith('/dashboard/')

type AskedView = Exclude<LogView, 'webhooks' | 'crons' | 'everything'>

/** Which requests belong to each view. */
const isIn: Readonly<Record<AskedView, (asked: SeenRequest) => boolean>> = {
  requests: isMarket,
  paid: (asked) => asked.receipt_id !== null && !isRefused(asked) && !UNDONE.has(text(asked.code)),
  refused: (asked) => isRefused(asked) && asked.code !== ASKED_ONLY,
  admin: (asked) => isOperators(asked) && (asked.method !== 'GET' || isRefused(asked)),
}

/** Error code of the 402 that tells the price at the start of a purchase. Such a request does not count as refused. */
const ASKED_ONLY = 'payment_required'
const UNDONE: ReadonlySet<string> = new Set(['released', 'refunded', 'reversed'])

const isRefused = ({ status }: SeenRequest) => (status ?? 0) >= BROKEN_FROM

/** A read of the operator that only the audit log still knows; it shows as the act and its subject. */
const READ = /^(job|thread)\.(read|list) /

function isMarket(asked: SeenRequest): boolean {
  const isLook =
    (asked.method === 'GET' && (asked.path.startsWith('/dashboard/') || asked.path === '/health')) ||
    READ.test(asked.path)
  return !isLook || isRefused(asked)
}

/** Hides a request that was answered with a price (402), if a later request paid that price. */
function joined(rows: readonly SeenRequest[]): readonly SeenRequest[] {
  const paid = new Set(rows.map(({ offer_id: offer }) => offer))
  return rows.filter(({ id }) => !paid.has(id))
}

const askedFields = {
  what: { kind: 'text' },
  method: { kind: 'text' },
  path: { kind: 'text' },
  service: { kind: 'text' },
  status: { kind: 'text' },
  ms: { kind: 'count' },
  who: { kind: 'text' },
  price: { kind: 'money' },
  code: { kind: 'text' },
  request: { kind: 'text' },
  age: { kind: 'age' },
} as const

function askedOf(asked: SeenRequest): Facts<typeof askedFields> {
  const { id, method, path, service, status, ms, code, at } = asked
  return {
    what: textOf([askedWord(asked)]),
    method,
    path,
    service: service ?? '',
    status: status === null ? null : String(status),
    ms: ms === null ? null : BigInt(ms),
    who: whoOf(asked),
    price: microOf(priceOf(asked)) ?? null,
    code: code ?? '',
    request: id,
    age: Date.parse(at),
  }
}

/** Maximum HTTP requests whose steps one query counts. Each count needs a trace, so only visible rows are counted. */
const COUNTED_MAX = 50

type StepCounts = ReadonlyMap<string, number>

/** Fetches each request's number of steps. @param ids - comma-separated */
const fetchSteps =
  (link: Link, ids: string) =>
  async (signal: AbortSignal): Promise<Outcome<StepCounts>> => {
    if (ids === '') return { ok: true, value: new Map() }
    const asked = { query: { request: ids, limit: String(COUNTED_MAX) }, signal }
    return ask(link, { name: 'listRequests', asked }, ({ requests }: WireAnswer<'listRequests'>) => {
      return new Map(requests.flatMap(({ id, steps }) => (steps === null ? [] : [[text(id), steps] as const])))
    })
  }

const named = (word: Piece, ...names: readonly (keyof Api)[]) => names.map((name) => [name, word] as const)

/** What successful requests did. Requests that are not listed here are named by their method. */
const did = new Map<PropertyKey, Piece>([
  ...named(
    good('● bought'),
    'purchaseService',
    'purchaseProduct',
    'siteAudit',
    'securityPatch',
    'contentWrite',
    'seoOptimize',
    'designUpdate',
    'maintenancePlan',
    'acceptPrice',
  ),
  ...named(good('✓ awarded'), 'awardPosting'),
  ...named(good('✓ verified'), 'verifyJob', 'verifyThread'),
  ...named(bad('? disputed'), 'disputeJob', 'disputeThread'),
  ...named(good('● reported'), 'updateJob', 'updateThread'),
  ...named(good('● wrote'), 'postJobMessage', 'postThreadMessage', 'answerForHouse'),
  ...named(good('● attached'), 'uploadThreadFile'),
  ...named(good('? asked'), 'inquire'),
  ...named(good('● found'), 'discover'),
  ...named(good('? offered'), 'proposePrice', 'createBid'),
  ...named(dim('× declined'), 'declineThread'),
  ...named(dim('– withdrawn'), 'withdrawBid'),
  ...named(dim('× cancelled'), 'cancelPosting', 'cancelSubscription'),
  ...named(good('● listed'), 'createService', 'createProduct', 'createPlan'),
  ...named(good('● posted'), 'createPosting'),
  ...named(good('● joined'), 'register', 'onboardProvider'),
  ...named(warn('● new key'), 'rotateKey', 'rotateOperatorKey'),
  ...named(good('● linked'), 'linkIdentity'),
  ...named(good('✓ agreed'), 'acceptTerms'),
  ...named(good('● subscribed'), 'subscribe'),
  ...named(warn('‖ paused'), 'pauseSubscription', 'pausePlatform', 'pauseEscrow', 'pauseCron'),
  ...named(good('● resumed'), 'resumeSubscription', 'resumeCron'),
  ...named(good('+ paid in'), 'deposit'),
  ...named(good('→ paid out'), 'withdrawBalance', 'withdrawReferrals'),
  ...named(good('+ funded'), 'openFaucet', 'faucet'),
  ...named(good('● tested'), 'testService'),
  ...named(good('● resent'), 'replayDelivery', 'replayForOperator'),
  ...named(warn('● exported'), 'getExport'),
  ...named(warn('● copied'), 'getBackup'),
  ...named(good('● trading'), 'unpausePlatform', 'unpauseEscrow'),
  ...named(good('✓ ran'), 'runCron'),
  ...named(warn('● moved'), 'moveClock'),
  ...named(good('✓ decided'), 'resolveJob', 'decideVerification'),
  ...named(warn('↩ gave back'), 'withdrawJob'),
  ...named(warn('● adjusted'), 'adjustBalance'),
  ...named(warn('× blocked'), 'addSanction'),
  ...named(good('● unblocked'), 'removeSanction'),
])

const because: Readonly<Partial<Record<ErrorCode | PaymentFault, Piece>>> = {
  payment_required: warn('? asked to pay'),
  missing: warn('? asked to pay'),
  insufficient_funds: warn('! no money'),
  insufficient_balance: warn('! no money'),
  nonce_used: warn('! paid before'),
  duplicate_settlement: warn('! paid before'),
  expired: warn('! too late'),
  wallet_blocked: bad('× blocked'),
  payer_blocked: bad('× blocked'),
  sanctioned: bad('× blocked'),
  terms_required: warn('× no terms'),
  registration_required: warn('× a stranger'),
  quote_required: warn('! no price'),
  paused: warn('‖ paused'),
  deferred: dim('× off'),
  provider_failed: bad('✗ not served'),
}

const byStatus: Readonly<Record<number, Piece>> = {
  400: warn('! not valid'),
  401: warn('× no key'),
  402: warn('! not paid'),
  403: warn('× refused'),
  404: dim('– not there'),
  409: warn('! not now'),
  413: warn('! too large'),
  429: warn('! too often'),
  503: warn('! not ready'),
}

const undone: Readonly<Record<string, Piece>> = {
  released: dim('× not charged'),
  refunded: dim('↩ refunded'),
  reversed: bad('✗ undone'),
}

/** What a request did, or why it failed, as symbol and word. */
export function askedWord({ endpoint, method, status, code, remembered }: SeenRequest): Piece {
  const state = own(undone, code)
  if (status === null) return state ?? (remembered === 'part' ? dim('– not known') : accent('● under way'))
  if (status >= 400)
    return own(because, code) ?? own(byStatus, status) ?? (status >= 500 ? bad('✗ broken') : warn('× refused'))
  return state ?? did.get(endpoint ?? '') ?? own(plainWords, method) ?? good('✓ done')
}

const plainWords: Readonly<Record<string, Piece>> = {
  GET: good('✓ read'),
  HEAD: good('✓ read'),
  OPTIONS: good('✓ read'),
  DELETE: good('✓ removed'),
  PUT: good('✓ changed'),
}

/** Looks up a word of the API that this version may not know. */
function own<K extends PropertyKey>(
  table: Readonly<Partial<Record<K, Piece>>>,
  name: PropertyKey | null,
): Piece | undefined {
  return name !== null && Object.hasOwn(table, name) ? table[name as K] : undefined // a key of it
}
