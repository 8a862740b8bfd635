import { type Fields, fields, list, number, text, time } from '../shell/read.ts'

/** Of a conversation and of a history, the newest. */
const ENTRIES_MAX = 200

export type Dispute = {
  readonly status: string
  readonly category: string
  readonly reason: string
  /** Empty while it is open. */
  readonly resolution: string
  readonly resolutionReason: string
}

/** What lists say of a job. Amounts are text like `$0.525`; times are business time. */
export type Job = {
  readonly id: string
  readonly serviceId: string
  readonly serviceName: string
  readonly status: string
  readonly buyerId: string
  readonly wallet: string
  readonly providerId: string
  readonly amount: string
  readonly fee: string
  readonly providerAmount: string
  readonly escrow: string
  readonly heldAt: number | undefined
  readonly nextEvent: string
  readonly nextEventAt: number | undefined
  readonly paidBy: string
  readonly transaction: string
  readonly receiptId: string
  readonly dispute: Dispute | undefined
  readonly createdAt: number | undefined
  readonly deadlineAt: number | undefined
}

export function readJob(value: unknown): Job {
  const job = fields(value)
  const [buyer, escrow, payment] = [fields(job.buyer), fields(job.escrow), fields(job.payment)]
  return {
    id: text(job.id),
    serviceId: text(job.service_id),
    serviceName: text(job.service_name),
    status: text(job.status),
    buyerId: text(buyer.participant_id),
    wallet: text(buyer.wallet),
    providerId: text(job.provider_id),
    amount: money(job.amount),
    fee: money(job.fee),
    providerAmount: money(job.provider_amount),
    escrow: text(escrow.status),
    heldAt: time(escrow.held_at),
    nextEvent: text(escrow.next_event),
    nextEventAt: time(escrow.next_event_at),
    paidBy: text(payment.method),
    transaction: text(payment.transaction),
    receiptId: text(job.receipt_id),
    dispute: typeof job.dispute === 'object' && job.dispute !== null ? readDispute(fields(job.dispute)) : undefined,
    createdAt: time(job.created_at),
    deadlineAt: time(job.deadline_at),
  }
}

function money(value: unknown): string {
  const amount = text(value)
  if (amount === '') return ''
  return amount.startsWith('-') ? `-$${amount.slice(1)}` : `$${amount}`
}

function readDispute(dispute: Fields): Dispute {
  return {
    status: text(dispute.status),
    category: text(dispute.category),
    reason: text(dispute.reason),
    resolution: text(dispute.resolution),
    resolutionReason: text(dispute.resolution_reason),
  }
}

export type Entry = { readonly at: number | undefined; readonly head: string; readonly words: string }
type Posting = { readonly at: number | undefined; readonly kind: string; readonly lines: readonly string[] }

/** All that is known of one job: with the admin credential the bundle that a ruling rests on. */
export type JobDetail = {
  readonly job: Job
  readonly input: unknown
  readonly deliverables: readonly unknown[]
  readonly timeline: readonly Entry[]
  readonly messages: readonly Entry[]
  /** What does not fit the listing's schemas; undefined where that was not checked. */
  readonly faults: {
    readonly input: readonly string[] | undefined
    readonly deliverables: readonly string[] | undefined
  }
  readonly postings: readonly Posting[]
  readonly notes: string
  readonly raw: unknown
}

export function readBundle(body: Fields): JobDetail {
  const report = fields(body.schema_report)
  return {
    ...readWhole(body.job, fields(body.thread).messages),
    faults: { input: faultsOf(report.input), deliverables: faultsOf(report.deliverables) },
    postings: list(body.postings).slice(-ENTRIES_MAX).map(readPosting),
    raw: body,
  }
}

/** The same from what a party of the job may read. */
export function readWhole(value: unknown, messages: unknown): JobDetail {
  const job = fields(value)
  return {
    job: readJob(value),
    input: job.input,
    deliverables: list(job.deliverables),
    timeline: newest(job.timeline, (entry) => ({
      head: text(entry.event),
      words: text(entry.detail),
      at: time(entry.at),
    })),
    messages: newest(messages, (entry) => ({
      head: text(entry.author_role),
      words: [text(entry.body), text(entry.file_id)].filter(Boolean).join('  @ '),
      at: time(entry.created_at),
    })),
    faults: { input: undefined, deliverables: undefined },
    postings: [],
    notes: text(job.notes),
    raw: value,
  }
}

function newest(entries: unknown, read: (entry: Fields) => Entry): Entry[] {
  return list(entries).slice(-ENTRIES_MAX).map(fields).map(read)
}

function faultsOf(report: unknown): readonly string[] | undefined {
  const { ok, details } = fields(report)
  if (typeof ok !== 'boolean') return undefined
  return list(details)
    .slice(0, ENTRIES_MAX)
    .map(fields)
    .map(({ path, message }) => `${text(path)} ${text(message)}`.trim())
}

function readPosting(value: unknown): Posting {
  const posting = fields(value)
  const lines = list(posting.lines)
    .map(fields)
    .map(({ account, amount }) => `${money(amount)} ${text(account)}`)
  return { at: time(posting.at), kind: text(posting.kind), lines }
}

export function totalOf(body: Fields): number {
  return number(body.total) ?? 0
}
