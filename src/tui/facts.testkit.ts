import type { WireAnswer } from '../api/index.ts'
import { endpoints } from '../client/endpoints.ts'
import { count, shortAddress, shortSpan } from '../text/text.ts'
import { sparkOf } from './drawn.testkit.ts'

/* What lists of the cockpit have to say, made anew from the answers of the interface, and held against a screen. */

/** What a row says, by the title of its column: one of several where time goes on meanwhile. */
export type RowSays = Readonly<Record<string, string | readonly string[]>>
export type ListSays = {
  readonly rows: readonly RowSays[]
  /** The rows stand in this order, from the first on; else any of them may stand anywhere. */
  readonly isOrdered: boolean
}

/** Fewer columns than these would be no list any more. */
const LEAST_TITLES = 3
/** Where panels meet. */
const BORDER = /[│┤├┬┼]/
/** Rows begin with a mark, or with room for one. */
const ROW = /^(?:▌| {2}| ◆) ?\S/

/** What the list on a screen does not say; empty where each row in sight says what its columns promise. */
export function missingOf(screen: readonly string[], { rows, isOrdered }: ListSays): readonly string[] {
  if (rows.length === 0) return []
  const known = [...new Set(rows.flatMap(Object.keys))]
  const left = screen.map((line) => line.split(BORDER)[0] ?? '')
  const titlesIn = (line: string) => known.filter((title) => says(line, title))
  const head = left.findIndex((line) => titlesIn(line).length >= LEAST_TITLES)
  if (head < 0) return ['a list with its titles']
  const titles = titlesIn(left[head] ?? '')
  const below = left.slice(head + 1)
  const end = below.findIndex((line) => !ROW.test(line))
  const body = end < 0 ? below : below.slice(0, end)
  if (body.length === 0) return ['a row']
  const lacks = (line: string, row: RowSays) => titles.filter((title) => !says(line, row[title] ?? []) && title in row)
  return body.flatMap((line, i) => {
    const meant = isOrdered ? rows.slice(i, i + 1) : rows
    if (meant.some((row) => lacks(line, row).length === 0)) return []
    const [row] = meant
    return row === undefined
      ? [`row ${i + 1} at all: ${line}`]
      : [`row ${i + 1}: ${wanted(row, lacks(line, row))} in ${line}`]
  })
}

function wanted(row: RowSays, titles: readonly string[]): string {
  return titles.map((title) => `${title} ${row[title]}`).join(', ')
}

/** Whether a line holds a text as words of their own, or its beginning in a cell that was cut. */
export function says(line: string, text: string | readonly string[]): boolean {
  if (typeof text !== 'string') return text.some((one) => says(line, one))
  const at = ` ${line} `.replaceAll('▌', ' ')
  if (at.includes(` ${text} `)) return true
  const cells = at
    .trimEnd()
    .split(/ {2,}/)
    .filter((cell) => cell.endsWith('…'))
  return cells.some((cell) => cell.length > 2 && text.startsWith(cell.slice(0, -1).trim()))
}

/** A screen is a little behind the clock. */
const BEHIND_MS = [0, 1_000, 2_000, 3_000, 4_000, -1_000] as const

function around(now: number, say: (now: number) => string): readonly string[] {
  return [...new Set(BEHIND_MS.map((ms) => say(now - ms)))]
}

/** @param at as the interface writes it; null for never. */
export function ages(at: string | null, now: number): readonly string[] {
  return at === null ? ['—'] : around(now, (then) => shortSpan(Math.max(0, then - Date.parse(at))))
}

function lefts(at: string | null | undefined, now: number): readonly string[] {
  if (at === null || at === undefined) return ['—']
  const due = Date.parse(at)
  return around(now, (then) => (due < then ? `-${shortSpan(then - due)}` : shortSpan(due - then)))
}

/** A name, or a wallet by its ends. */
export function named(name: string | null | undefined, otherwise = ''): string {
  const shown = name || otherwise
  return shown.startsWith('0x') ? shortAddress(shown) : shown
}

type Job = WireAnswer<'listAllJobs'>['jobs'][number]
type JobStatus = Job['status']

const jobWords: Readonly<Record<JobStatus, string>> = {
  created: '○ new',
  dispatched: '● sent',
  in_progress: '● at work',
  completed: '✓ delivered',
  verified: '✓ verified',
  released: '✓ paid',
  failed: '✗ failed',
  expired: '× expired',
  cancelled: '× cancelled',
  disputed: '? disputed',
  refunded: '↩ refunded',
}

function jobWord({ status, late, escrow }: Pick<Job, 'status' | 'late' | 'escrow'>): string {
  if (status === 'completed' && escrow?.next_event === 'verify') return '? delivered'
  return late && (status === 'dispatched' || status === 'in_progress') ? '! overdue' : jobWords[status]
}

/** @param now business time. */
export function jobSays(job: Job, now: number): RowSays {
  const { about, buyer, escrow } = job
  return {
    STATE: jobWord(job),
    SERVICE: job.service_name || job.service_id,
    BUYER: named(about?.buyer, buyer?.wallet),
    '→ PROVIDER': `→ ${named(about?.provider, job.provider_id)}`,
    AMOUNT: `$${job.amount}`,
    AGE: ages(job.created_at, now),
    // A reminder moves no money.
    LEFT: escrow?.next_event === 'remind' ? '—' : lefts(escrow?.next_event_at, now),
    JOB: job.id,
  }
}

const kindWords: Readonly<Record<string, string>> = { automated: 'auto', human: 'person', instant: 'at once' }

type ListedService = WireAnswer<'listAllServices'>['services'][number]

function endpointWord({ fulfillment_type: kind, provider_name: name, webhook_status: hook, selling }: ListedService) {
  if (kind === 'instant' || name === 'souk') return '– built in'
  const call = selling?.last_call
  if (call && hook === 'healthy' && call.failures === 0) return `✓ ${call.ms} ms`
  if (call && hook === 'failing') return `✗ ${call.status ?? 'no answer'} ×${call.failures}`
  return (
    { healthy: '✓ answers', failing: '✗ failing', not_tried: '– not tried', polling: '○ asks itself' }[hook] ?? hook
  )
}

export function serviceSays(one: ListedService): RowSays {
  const { agent_price: pays, price, provider_reputation: rating } = one
  const score = typeof rating === 'number' ? rating : rating?.score
  const isNew = one.provider_is_new === true || (typeof rating === 'object' && rating?.is_new === true)
  return {
    NAME: one.name,
    PROVIDER: one.provider_name || one.provider_id,
    'BUYER PAYS': pays.fixed || price.fixed || 'by quote',
    KIND: kindWords[one.fulfillment_type] ?? one.fulfillment_type,
    ENDPOINT: endpointWord(one),
    REP: isNew ? 'new' : scoreWord(score),
    ...sellingSays(one),
    SERVICE: one.id,
  }
}

function sellingSays({ selling }: ListedService): RowSays {
  if (selling === undefined) return { 'SOLD 7D': '—', REFUND: '—' }
  const { sold, refunded, by_day: days } = selling
  const share = sold === 0 ? 0 : (100 * refunded) / sold
  const percent = share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)
  return {
    // Where there is no room for a column a day, days share one.
    'SOLD 7D': sold === 0 ? '0' : days.map((_, n) => `${count(sold)} ${sparkOf(days, n + 1).trim()}`),
    REFUND: sold === 0 ? '—' : `${percent} %`,
  }
}

function scoreWord(score: number | null | undefined): string {
  return score === undefined || score === null ? '—' : String(Math.round(score))
}

const threadWords: Readonly<Record<WireAnswer<'listAllThreads'>['threads'][number]['status'], string>> = {
  inquiry: '● asked',
  negotiating: '? offered',
  accepted: '✓ agreed',
  in_progress: '● at work',
  completed: '? delivered',
  verified: '✓ paid',
  disputed: '? disputed',
  cancelled: '× ended',
}

export function threadSays(one: WireAnswer<'listAllThreads'>['threads'][number], now: number): RowSays {
  const { about, proposal } = one
  return {
    STATE: threadWords[one.status],
    'BUYER → PROVIDER': `${named(about.buyer, one.agent_id ?? '')} → ${named(about.provider, one.provider_id)}`,
    SERVICE: about.service || one.service_id,
    ...(proposal === null ? {} : { PRICE: `$${proposal.agent_price}` }),
    AGE: ages(one.updated_at, now),
  }
}

export function cronSays(one: WireAnswer<'listCrons'>['crons'][number], now: number): RowSays {
  const took = one.runs[0]?.took_ms
  const next = one.next_run === null ? undefined : Date.parse(one.next_run)
  return {
    NAME: one.name,
    ...(took === undefined ? {} : { TOOK: took < 1_000 ? `${took} ms` : `${(took / 1_000).toFixed(1)} s` }),
    ...runsSay(one),
    OK: one.last_success === null ? 'not yet' : ages(one.last_success, now),
    NEXT: next === undefined ? '—' : around(now, (then) => (next <= then ? 'now' : shortSpan(next - then))),
  }
}

const runSigns = { success: '▪', failed: '✗', skipped: '–' } as const

/** The newest at the right, as many as the size of the window has room for. */
function runsSay({ runs }: WireAnswer<'listCrons'>['crons'][number]): RowSays {
  const signs = runs.map(({ result }) => runSigns[result])
  const strip = (columns: number) => signs.slice(0, columns).toReversed().join('')
  return { 'LAST 20 RUNS': strip(20), 'LAST 12 RUNS': strip(12) }
}

type Door = WireAnswer<'getHealth'>['endpoints'][number]
/** As many hours as its spark has columns. */
const HOURS = 12

type Figures = WireAnswer<'getEndpointFigures'>['endpoints'][number]

const doorWords: Readonly<Record<Door['status'], string>> = {
  live: '● live',
  paused: '‖ paused',
  deferred: '× off',
}

export function doorSays({ method, path, price, status }: Door, calls: Figures | undefined): RowSays {
  const took = (ms: number | null | undefined) =>
    ms === null || ms === undefined ? '—' : `${ms < 10 ? ms : ms.toFixed(0)} ms`
  const times = (calls: number | undefined) => (calls ? count(calls) : '—')
  return {
    VERB: method,
    PATH: path,
    PRICE: price,
    STATE: doorWords[status],
    CALLS: calls === undefined ? '—' : count(calls.total),
    P50: took(calls?.p50_ms),
    P95: took(calls?.p95_ms),
    402: times(calls?.calls.asked_to_pay),
    'LAST 12 H': calls === undefined ? '' : sparkOf(calls.by_hour, HOURS),
    BROKEN: calls === undefined ? '—' : `${((100 * calls.calls.broken) / calls.total).toFixed(1)} %`,
  }
}

export function holdSays(one: WireAnswer<'getHolds'>['holds'][number]): RowSays {
  const { job } = one
  const ofJob = job && {
    STATE: jobWord({ ...job, escrow: undefined }).replace('✓ delivered', '? delivered'),
    'BUYER / PROVIDER': `${named(job.about.buyer)} / ${named(job.about.provider)}`,
    WHAT: job.about.service ?? one.reason,
  }
  return { ...ofJob, AMOUNT: `$${one.amount}`, ACCOUNT: one.account }
}

const attemptWords = {
  pending_consent: '? operator',
  vendor_pending: '? vendor',
  approved: '✓ verified',
  rejected: '✗ refused',
  expired: '– ran out',
} as const

export function attemptSays(one: WireAnswer<'listVerifications'>['attempts'][number], now: number): RowSays {
  return {
    STATE: attemptWords[one.status],
    WHO: one.name || one.participant_id,
    PARTICIPANT: one.participant_id,
    OPERATOR: one.operator_name || '—',
    ATTEMPT: one.id,
    AGE: ages(one.created_at, now),
  }
}

/** What is said of a purchase that was not taken, by the code of its 402. */
const untaken: Readonly<Record<string, string>> = {
  payment_required: '? asked to pay',
  insufficient_funds: '! no money',
  insufficient_balance: '! no money',
}

/** In place of what is not yet known, or was not kept over a restart. */
const absentIn = { whole: '…', part: '—' } as const

/** @param steps of its story */
export function requestSays(one: WireAnswer<'listRequests'>['requests'][number], steps: number): RowSays {
  const { status, code, ms, name, caller, price, endpoint, remembered, service } = one
  const absent = absentIn[remembered]
  const known = Object.entries(endpoints).find(([row]) => row === endpoint)?.[1]
  const refused = status === 402 ? { WHAT: untaken[code ?? ''] ?? '! not taken' } : {}
  return {
    ...(status === 200 ? { WHAT: '● bought' } : refused),
    SERVICE: service || '—',
    VERB: one.method,
    PATH: known?.[1] ?? one.path,
    HTTP: String(status ?? absent),
    TOOK: ms === null ? absent : `${count(ms)} ms`,
    WHO: named(name, caller ?? '') || '—',
    ...(price === null ? {} : { PRICE: `$${price}` }),
    STEPS: `${steps} ${steps === 1 ? 'step' : 'steps'}`,
  }
}

const sentWords = { pending: '● pending', delivered: '✓ delivered', dead: '✗ dead', dropped: '– dropped' } as const

export function sentSays(one: WireAnswer<'getWebhooks'>['deliveries'][number]): RowSays {
  const last = one.attempts.at(-1)
  return {
    STATE: sentWords[one.status],
    EVENT: one.type,
    TO: one.url,
    ANSWER: last === undefined ? '—' : String(last.status ?? 'none'),
    TOOK: last === undefined ? '—' : `${count(last.latency_ms)} ms`,
    TRIES: String(one.attempts.length),
    ...(one.job_id === null ? {} : { JOB: one.job_id }),
  }
}
