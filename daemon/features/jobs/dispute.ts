import { AppError } from '../../../src/core/error.ts'
import type { SignedSale } from '../../../src/core/offer-receipt.ts'
import { compact } from '../../../src/core/record.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Dispute, disputeCategories } from '../../../src/model/job.ts'
import { transition } from '../../kernel/machine.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { applyStep } from './apply.ts'
import { recordedSentence } from './dispute-decision.ts'
import { isOverdue } from './downtime.ts'
import { UNDELIVERED_REFUND_MS } from './job-deadlines.ts'
import { type JobEvent, jobMachine } from './machine.ts'
import { sayAside } from './notify.ts'
import { type JobRow, putJob } from './rows.ts'

/** How long a dispute can still be recorded after the money has left escrow. */
const LATE_DISPUTE_MS = 7 * DAY_MS
const NOT_DELIVERED = 'not_delivered'

export type Complaint = {
  readonly reason: string
  readonly category: (typeof disputeCategories)[number]
  readonly evidence?: readonly string[] | undefined
  readonly proof?: SignedSale | undefined
  /** Whether to refuse a dispute that would move no money. */
  readonly must_hold?: boolean | undefined
}

type Disputed = { readonly job: JobRow; readonly complaint: Complaint; readonly at: number }
type DisputeParams = {
  readonly job: JobRow
  readonly complaint: Pick<Complaint, 'category' | 'must_hold'>
  readonly at: number
}

/** What a dispute does. `recorded`: the job's state and money stay as they are. */
type Effect = { readonly kind: 'recorded' } | { readonly kind: 'holds'; readonly event: JobEvent }

/**
 * Decides whether a dispute holds the money. If the money was paid out, never held, or refunded, the dispute is only
 * recorded (decisions §8).
 * @throws AppError 409 if it can be neither held nor recorded, or only recorded although `must_hold` is set
 */
export async function disputeEffect(t: ReadTx, { job, complaint, at }: DisputeParams): Promise<Effect> {
  const since = lateSince(job, complaint)
  if (since !== null && at <= since + LATE_DISPUTE_MS && job.dispute === null) {
    if (complaint.must_hold !== true) return { kind: 'recorded' }
    throw new AppError('conflict', recordedSentence(job, 'would be'), { extra: { effect: 'recorded' } })
  }
  if (isPrepaid(job))
    throw new AppError('conflict', `This delivery ${job.dispute ? 'is already' : 'can no longer be'} disputed.`)
  const isMissing = complaint.category === NOT_DELIVERED && (await isDue(t, { job, at }))
  const event = isMissing ? 'dispute_undelivered' : 'dispute'
  transition(jobMachine, { event, from: job.status, by: 'buyer' })
  return { kind: 'holds', event }
}

/** Time since which a dispute can no longer hold the money and is only recorded; null while it still can. */
function lateSince(job: JobRow, { category }: DisputeParams['complaint']): number | null {
  if (job.status === 'expired') return category === NOT_DELIVERED ? job.ended_at : null
  if (job.verification?.by === 'auto') return job.verification.at
  return isPrepaid(job) ? job.completed_at : null
}

/** Whether a job completed without money in escrow: it was paid at the purchase, or by a subscription. */
function isPrepaid(job: JobRow): boolean {
  return job.status === 'completed' && job.escrow_status === 'none'
}

const undelivered: readonly JobRow['status'][] = ['dispatched', 'in_progress']

/** Whether the provider has missed its deadline. @throws AppError 409 while the provider still has time */
async function isDue(t: ReadTx, { job, at }: Pick<DisputeParams, 'job' | 'at'>): Promise<boolean> {
  if (!undelivered.includes(job.status)) return false
  if (await isOverdue(t, job, at)) return true
  const until = job.deadline_at === null ? 'later' : new Date(Math.max(job.deadline_at, at)).toISOString()
  const way = job.status === 'dispatched' ? '; until then you can cancel the job' : ''
  throw new AppError('conflict', `The provider can deliver until ${until}${way}.`, {
    extra: { deadline_at: job.deadline_at === null ? null : new Date(job.deadline_at).toISOString() },
  })
}

/** Text that warns a buyer, before the charge, if the dispute would only be recorded; otherwise undefined. */
export async function disputeNotice(
  t: ReadTx,
  { job, at }: Pick<DisputeParams, 'job' | 'at'>,
): Promise<string | undefined> {
  const complaint = { category: job.status === 'expired' ? NOT_DELIVERED : 'other' } as const
  try {
    const { kind } = await disputeEffect(t, { job, complaint, at })
    return kind === 'recorded' ? recordedSentence(job, 'would be') : undefined
  } catch (error) {
    // A refused dispute costs nothing, so it needs no notice.
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Opens a dispute or only records it; `disputeEffect` decides which. @throws AppError 409 */
export async function disputeJob(t: Tx, draw: Draw, disputed: Disputed): Promise<JobRow> {
  const { job, complaint, at } = disputed
  const effect = await disputeEffect(t, disputed)
  if (effect.kind === 'recorded') return recordDispute(t, draw, disputed)
  const by_default = await defaultOf(t, { job, at })
  const dispute = { ...newDispute('open', complaint, at), by_default }
  return applyStep(t, draw, {
    job,
    step: { event: effect.event, by: 'buyer', at, detail: complaint.reason, change: { dispute } },
  })
}

/** The default ruling. It is fixed when the dispute opens, so that the parties can rely on what they are told then. */
async function defaultOf(t: ReadTx, { job, at }: Pick<DisputeParams, 'job' | 'at'>) {
  if (undelivered.includes(job.status)) return { outcome: 'refund' as const, at: at + UNDELIVERED_REFUND_MS }
  const { disputes_default: set } = await readPlatform(t)
  return set && { outcome: set.outcome, at: at + set.days * DAY_MS }
}

function newDispute(status: Dispute['status'], complaint: Complaint, at: number): Dispute {
  const { reason, category, evidence = [], proof } = complaint
  return {
    status,
    reason,
    category,
    evidence: [...evidence],
    ...compact({ proof }),
    opened_at: at,
    resolution: null,
    buyer_amount: null,
    resolved_by: null,
    resolution_reason: null,
    resolved_at: null,
  }
}

const RECORDED = 'dispute_recorded'

/** Records a dispute on the job and emits events; the job's state and money do not change. */
async function recordDispute(t: Tx, draw: Draw, { job, complaint, at }: Disputed): Promise<JobRow> {
  const { category, reason } = complaint
  const changed = await putJob(t, {
    ...job,
    dispute: newDispute('recorded', complaint, at),
    timeline: [...job.timeline, { at, event: RECORDED, detail: category }],
  })
  const body = `The buyer disputes the delivery. ${recordedSentence(job, 'is')} ${reason}`
  await sayAside(t, draw, { job: changed, type: `job.${RECORDED}`, body, data: { category }, at })
  return changed
}
