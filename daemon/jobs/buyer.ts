import type { z } from 'zod'
import { AppError, notFound } from '../../src/core/error.ts'
import { ZERO } from '../../src/core/money.ts'
import type { Dispute, disputeCategories, JobRow, Verification } from '../../src/model/job.ts'
import { addMessage } from '../conversation.ts'
import { participantOfWallet } from '../registration.ts'
import { jobMachine } from '../rules/job-machine.ts'
import { LATE_DISPUTE_MS } from '../rules/job-machine-next.ts'
import { transition } from '../rules/machine.ts'
import { threads } from '../store/collections.ts'
import type { Draw } from '../store/draw.ts'
import { emit } from '../store/event-log.ts'
import { putJob } from '../store/parties.ts'
import type { Tx } from '../store/port.ts'
import { applyStep } from './apply.ts'
import { releaseUnlessPaused } from './release.ts'

export type Opinion = { readonly rating?: number | undefined; readonly comment?: string | undefined }

type Verified = { readonly job: JobRow; readonly opinion: Opinion; readonly at: number }

/** The buyer takes the delivery as good; the payment follows by the next run of the escrow monitor (decisions §8). */
export function verifyByBuyer(t: Tx, draw: Draw, { job, opinion, at }: Verified): Promise<JobRow> {
  const verification: Verification = {
    by: 'buyer',
    rating: opinion.rating ?? null,
    comment: opinion.comment ?? null,
    at,
  }
  return applyStep(t, draw, { job, step: { event: 'verify', by: 'buyer', at, change: { verification } } })
}

/** The same, with the payment at once; a job that is verified already is only paid. */
export async function verifyAndRelease(t: Tx, draw: Draw, verified: Verified): Promise<JobRow> {
  const { job, at } = verified
  const good = job.status === 'verified' ? job : await verifyByBuyer(t, draw, verified)
  return releaseUnlessPaused(t, draw, { job: good, by: 'buyer', at })
}

export type Complaint = {
  readonly reason: string
  readonly category: (typeof disputeCategories)[number]
  readonly evidence?: readonly string[] | undefined
}

/**
 * Whether a dispute now holds the money, or is only recorded: the money of what was verified
 * automatically, or never held, has gone its way (decisions §8).
 * @throws AppError 409 when it is neither.
 */
export function disputeEffect(job: JobRow, now: number): 'holds' | 'recorded' {
  const since = job.verification?.by === 'auto' ? job.verification.at : prepaidSince(job)
  const isLate = since !== null && now <= since + LATE_DISPUTE_MS
  if (isLate && job.dispute === null) return 'recorded'
  if (isPrepaid(job)) throw new AppError('conflict', 'This delivery can no longer be disputed.')
  transition(jobMachine, { event: 'dispute', from: job.status, by: 'buyer' })
  return 'holds'
}

/** Completed, and nothing is held: paid out with the purchase, or part of a subscription. */
function isPrepaid(job: JobRow): boolean {
  return job.status === 'completed' && job.escrow_status === 'none'
}

function prepaidSince(job: JobRow): number | null {
  return isPrepaid(job) ? job.completed_at : null
}

type Disputed = { readonly job: JobRow; readonly complaint: Complaint; readonly at: number }

/** Writes a dispute. @throws AppError 409 */
export function disputeJob(t: Tx, draw: Draw, disputed: Disputed): Promise<JobRow> {
  const { job, complaint, at } = disputed
  if (disputeEffect(job, at) === 'recorded') return recordDispute(t, draw, disputed)
  const change = { dispute: newDispute('open', complaint, at) }
  return applyStep(t, draw, {
    job,
    step: { event: 'dispute', by: 'buyer', at, detail: complaint.reason, change },
  })
}

function newDispute(status: Dispute['status'], { reason, category, evidence = [] }: Complaint, at: number): Dispute {
  return {
    status,
    reason,
    category,
    evidence: [...evidence],
    opened_at: at,
    resolution: null,
    buyer_amount: null,
    resolved_by: null,
    resolution_reason: null,
    resolved_at: null,
  }
}

const RECORDED = 'dispute_recorded'

/** An event for everyone concerned, and nothing else: state and money stay. */
async function recordDispute(t: Tx, draw: Draw, { job, complaint, at }: Disputed): Promise<JobRow> {
  const changed = await putJob(t, {
    ...job,
    dispute: newDispute('recorded', complaint, at),
    timeline: [...job.timeline, { at, event: RECORDED, detail: complaint.category }],
  })
  const thread = await t.table(threads).getForUpdate(job.thread_id)
  if (!thread) throw notFound('The thread')
  const money = job.amount === ZERO ? '' : '; the payment was released before'
  const body = `The buyer disputes the delivery${money}. ${complaint.reason}`
  await addMessage(t, draw, { thread, message: { author_role: 'buyer', type: 'status', body, now: at } })
  const buyer = await participantOfWallet(t, job.buyer_wallet)
  const subject = { kind: 'job', id: job.id }
  const data: z.core.util.JSONType = { service_id: job.service_id, category: complaint.category }
  for (const participantId of [job.provider_id, ...(buyer ? [buyer.id] : [])]) {
    await emit(t, draw, { type: `job.${RECORDED}`, participantId, subject, data, at })
  }
  return changed
}
