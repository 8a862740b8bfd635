import { type Job, jobStateOf, jobStates, leftOf, movesBy } from '../../nouns/jobs.ts'
import {
  clip,
  deadlineSpan,
  firstThatFits,
  padEnd,
  shortAddress,
  shortSpan,
  span,
  widthOf,
  wrap,
} from '../../text/text.ts'
import { timeNear } from '../../text/time.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, bad, dim, good, type Line, lineWidth, type Piece, strong } from '../parts/line.ts'
import { text, time } from '../shell/read.ts'
import type { JobTab } from '../shell/ui.ts'
import { type JobDetail, money, shownJob } from './rows.ts'

/** Limit on messages, history entries and bookings that are shown; the newest ones are kept. */
const ENTRIES_MAX = 200
const LABEL_COLUMNS = 12
const HEADS_MAX = 16

/** The service with the job's status and price. */
export function factLine(job: Job, now: number | undefined, width: number): Line {
  const since = job.dispute?.status === 'open' ? Date.parse(job.dispute.opened_at) : undefined
  const age = since === undefined || now === undefined ? '' : ` for ${span(Math.max(0, now - since))}`
  const { amount, service } = shownJob(job)
  const stands: Line = ['  ', jobStateOf(job, now), dim(age), '  ', strong(amount)]
  return [' ', strong(clip(service, Math.max(1, width - lineWidth(stands) - 1))), ...stands]
}

/** Parties, payment and next event in one row. */
export function partyLine(job: Job, now: number | undefined): Line {
  const { buyer, provider, paidBy } = shownJob(job)
  return [' ', buyer, dim(' → '), provider, dim('  paid '), paidBy, dim(`  ${escrowWords(job, now)}`)]
}

const moveOf = ({ escrow }: Job) => movesBy[escrow?.next_event ?? '']

/** Escrow and what happens to it next: `held, goes back in 23h`. */
function escrowWords(job: Job, now: number | undefined): string {
  const escrow = text(job.escrow?.status)
  if (escrow === 'none') return 'no escrow'
  const [move, at] = [moveOf(job), time(job.escrow?.next_event_at)]
  if (move === undefined || at === undefined || now === undefined)
    return isAtStake(job) ? `${escrow}, waits for a ruling` : escrow
  return at < now
    ? `${escrow}, ${move}, due ${shortSpan(now - at)} ago`
    : `${escrow}, ${move} in ${deadlineSpan(at - now)}`
}

/** Draws one row each for the parties (with ids), the payment and the next event. */
export function partyLines(job: Job, { width, now }: Omit<Shown, 'detail'>): Line[] {
  const { buyer, provider, paidBy } = shownJob(job)
  const names = Math.min(PARTY_COLUMNS_MAX, Math.max(widthOf(buyer), widthOf(provider)))
  const row = (label: string, name: string, id: string): Line => {
    const head = dim(` ${padEnd(label, SIDE_LABEL - 1)}`)
    if (name === id || name === shortAddress(id)) return [head, strong(id)]
    const room = width - SIDE_LABEL - names - 1
    return [head, strong(padEnd(clip(name, names), names)), ' ', widthOf(id) <= room ? id : shortAddress(id)]
  }
  return [
    row('bought', buyer, text(job.buyer?.wallet)),
    row('sold', provider, text(job.provider_id)),
    [dim(` ${padEnd('paid', SIDE_LABEL - 1)}`), `by ${paidBy || '—'}`, dim(`  ${escrowWords(job, now)}`)],
  ]
}

const SIDE_LABEL = 9
const PARTY_COLUMNS_MAX = 20

/** What each ruling pays to whom, a row each. */
export function rulingLines(job: Job, width: number): Line[] {
  if (!isAtStake(job)) return []
  const { amount, providerAmount, fee, buyer, provider } = shownJob(job)
  const row = (label: string, sum: string, ...notes: readonly string[]): Line => {
    const room = width - RULING_LABEL - sum.length - 2
    return [dim(` ${padEnd(label, RULING_LABEL - 1)}`), strong(sum), dim(`  ${firstThatFits(notes, room)}`)]
  }
  return [
    [dim(' ── what each ruling does ──')],
    row('buyer paid', amount, `${providerAmount} + ${fee} fee`),
    row('held', amount, '━'.repeat(HELD_BAR_COLUMNS)),
    row(
      'release pays',
      providerAmount,
      `${clip(provider, PARTY_COLUMNS_MAX)}, fee ${fee}`,
      clip(provider, PARTY_COLUMNS_MAX),
    ),
    row('refund gives', amount, `back to ${clip(buyer, PARTY_COLUMNS_MAX)}`),
  ]
}

const RULING_LABEL = 15
const HELD_BAR_COLUMNS = 18

/** One row that says how much each ruling pays, and to whom. */
export function rulingLine(job: Job, width: number): Line[] {
  if (!isAtStake(job)) return []
  const { amount, providerAmount, fee, ...sides } = shownJob(job)
  const [provider, buyer] = [clip(sides.provider, PARTY_COLUMNS_MAX), clip(sides.buyer, PARTY_COLUMNS_MAX)]
  const wishes = [
    `release pays ${provider} ${providerAmount}, fee ${fee}   refund gives ${buyer} ${amount}`,
    `release pays ${providerAmount}, fee ${fee}   refund gives ${amount}`,
    `release pays ${providerAmount}`,
  ]
  const head: Line = [dim(' held '), strong(amount), '   ']
  const said = firstThatFits(wishes, width - lineWidth(head) - 1)
  return said === '' ? [] : [[...head, said]]
}

function isAtStake({ status, escrow }: Job): boolean {
  return status === 'disputed' && escrow?.status === 'held'
}

type Shown = { readonly detail: JobDetail; readonly width: number; readonly now: number | undefined }

const tabLines: Readonly<Record<JobTab, (shown: Shown) => Line[]>> = {
  timeline({ detail: { job }, width, now }) {
    const entries = (job.timeline ?? []).slice(-ENTRIES_MAX).map(inWords)
    return entryLines([...entries, ...waiting(job, now)], { width, now, none: 'nothing has happened yet' })
  },
  input: ({ detail: { job, bundle } }) => [...faultLines(bundle?.schema_report.input), ...jsonLines(job.input ?? null)],
  deliverables: deliverableLines,
  messages: ({ detail, width, now }) =>
    entryLines(detail.messages.slice(-ENTRIES_MAX).map(messageEntry), { width, now, none: 'no messages' }),
  money: moneyLines,
  raw: ({ detail: { job, bundle } }) => jsonLines(bundle ?? job),
}

export function linesOf(tab: JobTab, shown: Shown): Line[] {
  return tabLines[tab](shown)
}

type Entry = {
  readonly at: number | undefined
  readonly head: Piece
  readonly words: string
  /** Shown in place of a time. */
  readonly when?: string
}

/** Shows the status of a history entry in the words that lists use. */
function inWords({ event, detail, at }: NonNullable<Job['timeline']>[number]): Entry {
  return { at: time(at), head: isState(event) ? jobStates[event] : text(event), words: text(detail) }
}

function messageEntry({ author_role: head, body, file_id, created_at: at }: JobDetail['messages'][number]): Entry {
  return { at: time(at), head, words: [text(body), text(file_id)].filter(Boolean).join('  @ ') }
}

/** Names the party that must act next, and what happens if it does nothing. */
function waiting(job: Job, now: number | undefined): Entry[] {
  const words = isAtStake(job) ? 'for a ruling by the operator' : waitsFor(job, now)
  return words === undefined ? [] : [{ when: 'now', at: undefined, head: dim('○ waits'), words }]
}

const whoActs: Readonly<Partial<Record<Job['status'], string>>> = {
  dispatched: 'the provider',
  in_progress: 'the provider',
  completed: 'the buyer',
}

function waitsFor(job: Job, now: number | undefined): string | undefined {
  const [who, left] = [whoActs[job.status], leftOf(job, now)]
  if (who === undefined || left === undefined) return undefined
  const move = `the money ${moveOf(job)}`
  return left.startsWith('-') ? `for ${who}; ${move}, due ${left.slice(1)} ago` : `for ${who}, else ${move} in ${left}`
}

function isState(event: string): event is Job['status'] {
  return Object.hasOwn(jobStates, event)
}

/** The first cell of an entry, padded. It gets the accent color if it has no tone of its own. */
function headPiece(head: Piece, columns: number): Piece {
  return typeof head === 'string' ? accent(padEnd(head, columns)) : { ...head, text: padEnd(head.text, columns) }
}

type EntryOptions = { readonly width: number; readonly now: number | undefined; readonly none: string }

function entryLines(entries: readonly Entry[], { width, now, none }: EntryOptions): Line[] {
  if (entries.length === 0) return [[dim(` ${none}`)]]
  const times = entries.map(({ at, when }) => when ?? timeNear(at, now))
  const time = Math.max(...times.map((word) => word.length))
  const head = Math.min(HEADS_MAX, Math.max(...entries.map(({ head: one }) => lineWidth([one]))))
  const left = time + head + 4
  return entries.flatMap((entry, i) =>
    wrap(entry.words, Math.max(1, width - left - 1)).map((words, line): Line => {
      if (line > 0) return [' '.repeat(left + 1), words]
      return [` ${padEnd(times[i] ?? '', time)}  `, headPiece(entry.head, head), `  ${words}`]
    }),
  )
}

type Report = NonNullable<JobDetail['bundle']>['schema_report']['input']

function faultLines(report: Report | undefined): Line[] {
  if (!report) return []
  if (report.details.length === 0) return [[good(' ✓ '), dim('matches the schema of the listing')]]
  const shown = report.details.slice(0, ENTRIES_MAX)
  return shown.map(({ path, message }): Line => [bad(' ✗ '), `${text(path)} ${text(message)}`.trim()])
}

function deliverableLines({ detail: { job, bundle } }: Shown): Line[] {
  const deliverables = job.deliverables ?? []
  const notes = text(job.notes)
  const note: Line[] = notes === '' ? [] : [[dim(' notes  '), notes]]
  if (deliverables.length === 0) return [[dim(' nothing was delivered')], ...note]
  return [...faultLines(bundle?.schema_report.deliverables), ...note, ...deliverables.flatMap(jsonLines)]
}

function moneyLines({ detail, width, now }: Shown): Line[] {
  const { job, bundle } = detail
  const postings = bundle?.postings.slice(-ENTRIES_MAX) ?? []
  const { amount, providerAmount, fee, paidBy } = shownJob(job)
  const { dispute } = job
  const [transaction, receipt] = [text(job.payment?.transaction), text(job.receipt_id)]
  const ruled = dispute?.resolution ? `${dispute.resolution}: ${text(dispute.resolution_reason)}` : ''
  const facts = [
    ['buyer paid', `${amount} by ${paidBy}${transaction === '' ? '' : `, ${shortAddress(transaction)}`}, ${receipt}`],
    ['of this', `${providerAmount} for the provider, ${fee} fee`],
    ['escrow', escrowWords(job, now)],
    ['dispute', dispute ? `${dispute.status}, ${dispute.category}: ${text(dispute.reason)}` : ''],
    ['ruling', ruled],
  ] as const
  return [
    ...facts.flatMap(([name, value]) => (value === '' ? [] : labelled(name, value, width))),
    ...postings.map(({ at, kind, lines }): Line => {
      const amounts = lines.map((line) => `${money(line.amount)} ${text(line.account)}`)
      return [` ${timeNear(time(at), now)}  `, accent(text(kind)), `  ${amounts.join('  ')}`]
    }),
  ]
}

function labelled(name: string, value: string, width: number): Line[] {
  return wrap(value, Math.max(1, width - LABEL_COLUMNS - 1)).map(
    (words, i): Line => [dim(` ${padEnd(i === 0 ? name : '', LABEL_COLUMNS - 1)}`), words],
  )
}
