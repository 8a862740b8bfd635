import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { shortAddress } from '../../text/text.ts'
import { text, time } from '../shell/read.ts'

/** Of a conversation and of a history, the newest. */
const ENTRIES_MAX = 200

type DisputeFacts = {
  readonly status: string
  readonly category: string
  readonly reason: string
  readonly openedAt: number | undefined
  /** Empty while it is open. */
  readonly resolution: string
  readonly resolutionReason: string
}

type Answered = WireAnswer<Api['getJob']>
/** The operator's list names who is who; what is older, and a party's own list, does not. */
type Listed = WireAnswer<Api['listAllJobs']>['jobs'][number]

/** What lists say of a job. Amounts are text like `$0.525`; times are business time. */
export type JobOnScreen = {
  readonly id: string
  readonly serviceId: string
  readonly serviceName: string
  readonly status: Answered['status']
  readonly buyerId: string
  readonly wallet: string
  readonly providerId: string
  /** Names, or what stands for them. */
  readonly buyer: string
  readonly provider: string
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
  readonly dispute: DisputeFacts | undefined
  readonly createdAt: number | undefined
  readonly deadlineAt: number | undefined
  /** Past the time that was promised; undefined where the instance does not say. */
  readonly late: boolean | undefined
}

/** A stranger to a job, and a list, see parts of it only. */
export function readJob(job: Answered | Listed): JobOnScreen {
  const { buyer, escrow, payment, dispute } = job
  const { about, late } = 'about' in job ? job : { about: undefined, late: undefined }
  const [wallet, providerId] = [text(buyer?.wallet), text(job.provider_id)]
  return {
    id: job.id,
    serviceId: job.service_id,
    serviceName: text(job.service_name),
    status: job.status,
    buyerId: text(buyer?.participant_id),
    wallet,
    providerId,
    buyer: named(text(about?.buyer), wallet),
    provider: named(text(about?.provider), providerId),
    amount: money(job.amount),
    fee: money(job.fee),
    providerAmount: money(job.provider_amount),
    escrow: text(escrow?.status),
    heldAt: time(escrow?.held_at),
    nextEvent: text(escrow?.next_event),
    nextEventAt: time(escrow?.next_event_at),
    paidBy: text(payment?.method),
    transaction: text(payment?.transaction),
    receiptId: text(job.receipt_id),
    dispute: dispute ? readDispute(dispute) : undefined,
    createdAt: time(job.created_at),
    deadlineAt: time(job.deadline_at),
    late,
  }
}

const WALLET = /^0x[0-9a-fA-F]{40}$/

/** A name, or a wallet or id where there is none. */
export function named(name: string, id: string): string {
  const shown = name || id
  return WALLET.test(shown) ? shortAddress(shown) : shown
}

function money(amount = ''): string {
  if (amount === '') return ''
  return amount.startsWith('-') ? `-$${amount.slice(1)}` : `$${amount}`
}

function readDispute(dispute: NonNullable<Answered['dispute']>): DisputeFacts {
  return {
    status: dispute.status,
    category: dispute.category,
    reason: text(dispute.reason),
    openedAt: time(dispute.opened_at),
    resolution: text(dispute.resolution),
    resolutionReason: text(dispute.resolution_reason),
  }
}

export type HistoryEntry = { readonly at: number | undefined; readonly head: string; readonly words: string }
type Posting = { readonly at: number | undefined; readonly kind: string; readonly lines: readonly string[] }

/** All that is known of one job: with the admin credential the bundle that a ruling rests on. */
export type JobDetail = {
  readonly job: JobOnScreen
  readonly input: unknown
  readonly deliverables: readonly unknown[]
  readonly timeline: readonly HistoryEntry[]
  readonly messages: readonly HistoryEntry[]
  /** What does not fit the listing's schemas; undefined where that was not checked. */
  readonly faults: {
    readonly input: readonly string[] | undefined
    readonly deliverables: readonly string[] | undefined
  }
  readonly postings: readonly Posting[]
  readonly notes: string
  readonly raw: unknown
}

type Bundle = WireAnswer<Api['getJobBundle']>
type Message = WireAnswer<Api['getJobMessages']>['messages'][number]

export function readBundle(bundle: Bundle): JobDetail {
  const { job, thread, schema_report: report, postings } = bundle
  return {
    ...readWhole(job, thread.messages),
    faults: { input: faultsOf(report.input), deliverables: faultsOf(report.deliverables) },
    postings: postings.slice(-ENTRIES_MAX).map(readPosting),
    raw: bundle,
  }
}

/** The same from what a party of the job may read. */
export function readWhole(job: Answered, messages: readonly Message[] = []): JobDetail {
  return {
    job: readJob(job),
    input: job.input,
    deliverables: job.deliverables ?? [],
    timeline: (job.timeline ?? []).slice(-ENTRIES_MAX).map(({ event, detail, at }) => ({
      head: text(event),
      words: text(detail),
      at: time(at),
    })),
    messages: messages.slice(-ENTRIES_MAX).map((message) => ({
      head: message.author_role,
      words: [text(message.body), text(message.file_id)].filter(Boolean).join('  @ '),
      at: time(message.created_at),
    })),
    faults: { input: undefined, deliverables: undefined },
    postings: [],
    notes: text(job.notes),
    raw: job,
  }
}

function faultsOf(report: Bundle['schema_report']['input']): readonly string[] | undefined {
  return report?.details.slice(0, ENTRIES_MAX).map(({ path, message }) => `${text(path)} ${text(message)}`.trim())
}

function readPosting({ at, kind, lines }: Bundle['postings'][number]): Posting {
  const shown = lines.map(({ account, amount }) => `${money(amount)} ${text(account)}`)
  return { at: time(at), kind: text(kind), lines: shown }
}
