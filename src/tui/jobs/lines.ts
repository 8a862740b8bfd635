import { clockTime, dateTime, padEnd, shortAddress, shortSpan, wrap } from '../../text/text.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, bad, dim, good, type Line, type Piece, warn } from '../parts/line.ts'
import type { JobTab } from '../shell/ui.ts'
import type { HistoryEntry, JobDetail, JobOnScreen } from './facts.ts'

const LABEL_COLUMNS = 12
const HEADS_MAX = 16
const DAY_MS = 86_400_000

const states: Readonly<Record<JobOnScreen['status'], Piece>> = {
  created: dim('○ new'),
  dispatched: accent('● sent'),
  in_progress: accent('● at work'),
  completed: good('✓ delivered'),
  verified: good('✓ verified'),
  released: good('✓ paid'),
  failed: bad('✗ failed'),
  expired: dim('× expired'),
  cancelled: dim('× cancelled'),
  disputed: bad('? disputed'),
  refunded: dim('↩ refunded'),
}

/** Sign and word; what waits for its buyer asks for somebody, what is late warns. */
export function statusWord({ status, nextEvent, deadlineAt }: JobOnScreen, now: number | undefined): Piece {
  if (status === 'completed' && nextEvent === 'verify') return warn('? delivered')
  const isRunning = status === 'dispatched' || status === 'in_progress'
  if (isRunning && deadlineAt !== undefined && now !== undefined && deadlineAt < now) return warn('! overdue')
  return states[status]
}

/** Until something happens by itself, `-2h` when it should have. */
export function leftWord({ nextEventAt }: JobOnScreen, now: number | undefined): string {
  if (nextEventAt === undefined || now === undefined) return '—'
  return nextEventAt < now ? `-${shortSpan(now - nextEventAt)}` : shortSpan(nextEventAt - now)
}

/** Who, how paid, and what comes next, in one row. */
export function factLine({ wallet, providerId, paidBy, escrow, nextEvent }: JobOnScreen): Line {
  const held = escrow === 'none' ? 'no escrow' : `${escrow}${nextEvent === '' ? '' : `, next ${nextEvent}`}`
  return [dim(' buyer '), shortAddress(wallet), dim('  paid '), paidBy, `  ${held}`, dim('  provider '), providerId]
}

type Shown = { readonly detail: JobDetail; readonly width: number; readonly now: number | undefined }

const tabLines: Readonly<Record<JobTab, (shown: Shown) => Line[]>> = {
  timeline: ({ detail, width, now }) => entryLines(detail.timeline, { width, now, none: 'nothing has happened yet' }),
  input: ({ detail }) => [...faultLines(detail.faults.input), ...jsonLines(detail.input ?? null)],
  deliverables: deliverableLines,
  messages: ({ detail, width, now }) => entryLines(detail.messages, { width, now, none: 'nobody has said anything' }),
  money: moneyLines,
  raw: ({ detail }) => jsonLines(detail.raw),
}

/** What a tab of a job says. */
export function linesOf(tab: JobTab, shown: Shown): Line[] {
  return tabLines[tab](shown)
}

type EntryOptions = { readonly width: number; readonly now: number | undefined; readonly none: string }

function entryLines(entries: readonly HistoryEntry[], { width, now, none }: EntryOptions): Line[] {
  if (entries.length === 0) return [[dim(` ${none}`)]]
  const times = entries.map(({ at }) => timeWord(at, now))
  const time = Math.max(...times.map((word) => word.length))
  const head = Math.min(HEADS_MAX, Math.max(...entries.map((entry) => entry.head.length)))
  const left = time + head + 4
  return entries.flatMap((entry, i) =>
    wrap(entry.words, Math.max(1, width - left - 1)).map((words, line): Line => {
      if (line > 0) return [' '.repeat(left + 1), words]
      return [` ${padEnd(times[i] ?? '', time)}  `, accent(padEnd(entry.head, head)), `  ${words}`]
    }),
  )
}

/** The time of today; with its date before. */
function timeWord(at: number | undefined, now: number | undefined): string {
  if (at === undefined) return '--:--:--'
  return now !== undefined && Math.abs(now - at) < DAY_MS ? clockTime(at) : dateTime(at)
}

function faultLines(faults: readonly string[] | undefined): Line[] {
  if (faults === undefined) return []
  if (faults.length === 0) return [[good(' ✓ '), dim('fits the schema of the listing')]]
  return faults.map((fault): Line => [bad(' ✗ '), fault])
}

function deliverableLines({ detail }: Shown): Line[] {
  const { deliverables, faults, notes } = detail
  const note: Line[] = notes === '' ? [] : [[dim(' notes  '), notes]]
  if (deliverables.length === 0) return [[dim(' nothing was delivered')], ...note]
  return [...faultLines(faults.deliverables), ...note, ...deliverables.flatMap(jsonLines)]
}

function moneyLines({ detail, width, now }: Shown): Line[] {
  const { job, postings } = detail
  const { amount, providerAmount, fee, paidBy, transaction, receiptId, dispute } = job
  const ruled = dispute?.resolution ? `${dispute.resolution}: ${dispute.resolutionReason}` : ''
  const next = job.nextEvent === '' ? '' : `, ${job.nextEvent} in ${leftWord(job, now)}`
  const facts = [
    ['buyer paid', `${amount} by ${paidBy}${transaction === '' ? '' : `, ${shortAddress(transaction)}`}, ${receiptId}`],
    ['of this', `${providerAmount} for the provider, ${fee} fee`],
    ['escrow', `${job.escrow}${next}`],
    ['dispute', dispute === undefined ? '' : `${dispute.status}, ${dispute.category}: ${dispute.reason}`],
    ['ruling', ruled],
  ] as const
  return [
    ...facts.flatMap(([name, value]) => (value === '' ? [] : labelled(name, value, width))),
    ...postings.map(({ at, kind, lines }): Line => [` ${timeWord(at, now)}  `, accent(kind), `  ${lines.join('  ')}`]),
  ]
}

function labelled(name: string, value: string, width: number): Line[] {
  return wrap(value, Math.max(1, width - LABEL_COLUMNS - 1)).map(
    (words, i): Line => [dim(` ${padEnd(i === 0 ? name : '', LABEL_COLUMNS - 1)}`), words],
  )
}
