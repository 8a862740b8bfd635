import type { z } from 'zod'
import type { EventAbout } from '../../../src/api/sections/admin.ts'
import { Job } from '../../../src/api/sections/jobs.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { compact, pick } from '../../../src/core/record.ts'
import { workingJobStatuses } from '../../../src/model/job.ts'
import type { Context } from '../../kernel/context.ts'
import { participantNamed } from '../../kernel/rows.ts'
import { readText } from '../../store/blobs.ts'
import type { ReadTx } from '../../store/port.ts'
import { type DealRow, deals } from '../escrow/rows.ts'
import { deciderOf } from './dispute-decision.ts'
import { type JobRow, type JobSource, readDeliverables, readInput } from './rows.ts'

type JobView = z.output<typeof Job>

/** Source of job rows and files outside a transaction. */
export function placeOf({ store, blobs }: Pick<Context, 'store' | 'blobs'>): JobSource {
  return { table: (collection) => store.table(collection), text: (sha256) => readText(blobs, sha256) }
}

/** A job as its parties see it: the whole record (decisions §8). */
export async function jobView(place: JobSource, job: JobRow): Promise<JobView> {
  const { escrow, ...summary } = jobSummary(job)
  const contract = contractView(await place.table(deals).get(job.id))
  return {
    ...summary,
    ...compact({ escrow: escrow && { ...escrow, ...compact({ contract }) } }),
    input: await readInput(place, job),
    deliverables: await readDeliverables(place, job),
    timeline: job.timeline.map((entry) => ({ ...entry })),
  }
}

function contractView(deal: DealRow | undefined) {
  if (!deal) return undefined
  const { state, last_error: waits, transactions } = deal
  return { state, waits, transactions: transactions.map(({ act, hash }) => ({ act, transaction: hash })) }
}

const { input: _in, deliverables: _out, timeline: _log, ...summaryMembers } = Job.shape

/** A job as lists show it: without large members. */
export function jobSummary(job: JobRow): JobView {
  return {
    ...pick(job, summaryMembers),
    job_id: job.id,
    buyer: { participant_id: job.buyer_id, wallet: job.buyer_wallet },
    escrow: {
      status: job.escrow_status,
      held_at: job.held_at,
      next_event: job.next_event,
      next_event_at: job.next_event_at,
    },
    payment: { method: job.payment_method, transaction: job.transaction, payer: job.buyer_wallet },
    dispute: disputeView(job.dispute),
  }
}

function disputeView(dispute: JobRow['dispute']): JobView['dispute'] {
  if (dispute === null) return null
  const { by_default: _, ...shown } = dispute
  return { ...shown, evidence: [...dispute.evidence], decision: deciderOf(dispute) }
}

/** A job as other paying callers see it: without contents. */
export function strangersView(job: JobRow): JobView {
  return {
    id: job.id,
    job_id: job.id,
    service_id: job.service_id,
    status: job.status,
    created_at: job.created_at,
    completed_at: job.completed_at,
  }
}

export type About = z.output<typeof EventAbout>

/** Names of a job's service and parties, with its price and payment method. */
export async function aboutJob(t: ReadTx, job: JobRow): Promise<About> {
  return {
    service: job.service_name,
    buyer: await nameOf(t, job.buyer_wallet),
    provider: await nameOf(t, job.provider_id),
    amount: job.amount,
    method: job.payment_method,
  }
}

/** The participant's name, or else `who` as given. */
export async function nameOf(t: ReadTx, who: string | Wallet): Promise<string> {
  return (await participantNamed(t, who))?.name || who
}

/** When a job must be delivered: at its deadline, or earlier if its listing promised that. */
export function promisedAt({ created_at, estimate_ms, deadline_at }: JobRow): number {
  const promised = estimate_ms === null ? Number.POSITIVE_INFINITY : created_at + estimate_ms
  return Math.min(promised, deadline_at ?? Number.POSITIVE_INFINITY)
}

/** Whether a running job is past its deadline or promised time. Lists and counts call such a job overdue. */
export function isLate(job: JobRow, now: number): boolean {
  return workingJobStatuses.some((working) => working === job.status) && promisedAt(job) < now
}
