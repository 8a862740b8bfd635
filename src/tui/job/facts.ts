import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { buyerOf, type Job, providerOf, serviceOf } from '../../nouns/jobs.ts'
import { safe } from '../../text/text.ts'
import { text, time } from '../shell/read.ts'

/** Limit on messages, history entries and bookings that are shown; the newest ones are kept. */
const ENTRIES_MAX = 200

/** A job's displayed fields, sanitised for a terminal; amounts like `$0.525`. */
export function shownJob(job: Job) {
  const { amount, fee, provider_amount, payment } = job
  return {
    service: safe(serviceOf(job)),
    buyer: safe(buyerOf(job)),
    provider: safe(providerOf(job)),
    amount: money(amount),
    fee: money(fee),
    providerAmount: money(provider_amount),
    paidBy: text(payment?.method),
  }
}

function money(amount = ''): string {
  if (amount === '') return ''
  return amount.startsWith('-') ? `-$${amount.slice(1)}` : `$${amount}`
}

export type HistoryEntry = { readonly at: number | undefined; readonly head: string; readonly words: string }
type Posting = { readonly at: number | undefined; readonly kind: string; readonly lines: readonly string[] }

/** All data of a job. With the admin key it includes what a ruling needs. */
export type JobDetail = {
  readonly job: Job
  readonly input: unknown
  readonly deliverables: readonly unknown[]
  readonly timeline: readonly HistoryEntry[]
  readonly messages: readonly HistoryEntry[]
  /** Where input and result break the listing's schemas. Undefined if not checked. */
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

/** All data of a job that one of its parties can see. */
export function readWhole(job: Job, messages: readonly Message[] = []): JobDetail {
  return {
    job,
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
