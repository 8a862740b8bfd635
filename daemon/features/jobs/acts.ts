import { isDeepStrictEqual } from 'node:util'
import { existing } from '../../../src/core/error.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { notYours } from '../../kernel/parties.ts'
import { type ParticipantRow, participantOfWallet, refuseSuspended } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import type { Payer } from '../payments/seller.ts'
import { runPayouts } from '../payouts/payouts.ts'
import { refuseForeignEvidence } from '../threads/files.ts'
import { type ThreadRow, threads } from '../threads/rows.ts'
import { lockJob } from './apply.ts'
import { type Opinion, verifyAndRelease, verifyByBuyer, verifyEffect } from './buyer.ts'
import { type Complaint, disputeEffect, disputeJob, disputeNotice } from './dispute.ts'
import { type JobEvent, threadMachine } from './machine.ts'
import { applyReport, checkReport, deliverablesOf, type JobReport, reportEvents } from './report.ts'
import { type JobRow, jobs, readDeliverables } from './rows.ts'
import { placeOf } from './view.ts'

/* Actions of buyer and provider on a job. The `check…` functions refuse an action before it is charged. */

type ByBuyer = { readonly place: JobPlace; readonly buyer: Pick<Payer, 'wallet'> }

type ByBuyerAt = ByBuyer & { readonly at: number }

export async function checkVerify(t: ReadTx, { place, buyer, at }: ByBuyerAt): Promise<JobRow> {
  const job = await jobAt(t, place, byBuyer('verify', buyer))
  refuseUnlessBuyer(job, buyer)
  verifyEffect(job, at)
  await refuseLateSuspended(t, job)
  return job
}

/** Suspended buyers may end running jobs, but not act on finished ones. @throws AppError 403 */
async function refuseLateSuspended(t: ReadTx, job: JobRow): Promise<void> {
  if (job.ended_at !== null) refuseSuspended(await participantOfWallet(t, job.buyer_wallet))
}

function byBuyer(event: JobEvent, { wallet }: Pick<Payer, 'wallet'>): JobAsked {
  return { event, by: 'buyer', isTheirs: (thread) => thread.buyer_wallet === wallet }
}

type Verifying = ByBuyerAt & { readonly opinion: Opinion }

/** Verifies a delivery. If `place` is a job, this also pays. If it is a conversation, the escrow monitor pays later. */
export async function verifyAt(t: Tx, draw: Draw, { opinion, at, ...by }: Verifying): Promise<JobRow> {
  const { id } = await checkVerify(t, { ...by, at })
  const verified = { job: await held(t, id), opinion, at }
  return by.place.kind === 'job' ? verifyAndRelease(t, draw, verified) : verifyByBuyer(t, draw, verified)
}

export async function checkDispute(t: ReadTx, { place, buyer, complaint, at }: Disputing): Promise<JobRow> {
  const job = await jobAt(t, place, byBuyer('dispute', buyer))
  refuseUnlessBuyer(job, buyer)
  await disputeEffect(t, { job, complaint, at })
  await refuseLateSuspended(t, job)
  await refuseForeignEvidence(t, job.thread_id, complaint.evidence)
  return job
}

type Disputing = ByBuyerAt & { readonly complaint: Complaint }

/** What a buyer must know before paying for a dispute, if anything. */
export async function noticeOfDispute(t: ReadTx, { place: { kind, id }, at }: { place: JobPlace; at: number }) {
  const jobId = kind === 'job' ? id : (await t.table(threads).get(id))?.job_id
  const job = jobId ? await t.table(jobs).get(jobId) : undefined
  return job && disputeNotice(t, { job, at })
}

export async function disputeAt(t: Tx, draw: Draw, disputing: Disputing): Promise<JobRow> {
  const { id } = await checkDispute(t, disputing)
  const { complaint, at } = disputing
  return disputeJob(t, draw, { job: await held(t, id), complaint, at })
}

type Reporting = {
  readonly place: JobPlace
  readonly provider: ParticipantRow
  readonly report: JobReport
  readonly now: number
}

/** Applies a provider's report. Its deliverable is checked before the transaction, to keep the transaction short. */
export async function reportAt(ctx: Context, { place, provider, report, now }: Reporting): Promise<JobRow> {
  const isTheirs = ({ provider_id }: ThreadRow) => provider_id === provider.id
  const asked = { event: reportEvents[report.status], by: 'provider', isTheirs } as const
  const seen = await ctx.store.read((t) => jobAt(t, place, asked))
  refuseUnlessProvider(seen, provider)
  if (await isRepeat(ctx, seen, report)) return seen
  const kept = await checkReport(ctx, seen, report)
  const job = await commit(ctx, async (t, draw) =>
    applyReport(t, draw, { job: await held(t, seen.id), report, kept, at: now }),
  ).catch(async (error: unknown) => {
    // A concurrent copy of this report was applied first.
    const known = await ctx.store.table(jobs).get(seen.id)
    if (known && (await isRepeat(ctx, known, report))) return known
    throw error
  })
  sendRefunds(ctx, job)
  return job
}

/** Whether a report repeats a delivery that is already stored, because the provider did not get the response. */
async function isRepeat(ctx: Context, job: JobRow, { status, deliverable, notes }: JobReport): Promise<boolean> {
  if (status !== 'completed' || job.completed_at === null || deliverable === undefined) return false
  if (notes !== undefined && notes !== job.notes) return false
  return isDeepStrictEqual(await readDeliverables(placeOf(ctx), job), deliverablesOf(deliverable))
}

async function held(t: Tx, id: string): Promise<JobRow> {
  return (await lockJob(t, id)) as JobRow // found just now, and jobs stay
}

/**
 * Starts payouts if the job owes a wallet a refund; call it after the commit. The auto-refund cron retries failures.
 */
export function sendRefunds(ctx: Context, job: JobRow): void {
  const isDue = job.payment_method === 'x402' && (job.escrow_status === 'refunded' || job.escrow_status === 'split')
  if (isDue) inBackground(ctx, 'payouts', () => runPayouts(ctx))
}

/** Where an action was sent: to a job, or to its conversation. */
export type JobPlace = { readonly kind: 'job' | 'thread'; readonly id: string }

/** An action on a job, and which party may take it. */
type JobAsked = { readonly event: JobEvent; readonly by: PartyRole; readonly isTheirs: (thread: ThreadRow) => boolean }

/** @throws AppError 404 for an unknown job or conversation; if a conversation has no job, 409 or, for outsiders, 403 */
export async function jobAt(t: ReadTx, { kind, id }: JobPlace, asked: JobAsked): Promise<JobRow> {
  const jobId = kind === 'job' ? id : jobIdOf(await threadById(t, id), asked)
  return existing(await t.table(jobs).get(jobId), 'The job')
}

function jobIdOf(thread: ThreadRow, { event, by, isTheirs }: JobAsked): string {
  if (thread.job_id !== null) return thread.job_id
  if (!isTheirs(thread)) throw notYours('The thread')
  transition(threadMachine, { event, from: thread.status, by })
  throw new Error(`${thread.id} is ${thread.status} without a job`)
}

/** @throws AppError 404 */
export async function threadById(t: ReadTx, id: string): Promise<ThreadRow> {
  return existing(await t.table(threads).get(id), 'The thread')
}

/** @throws AppError 403 for any wallet but that of the job's buyer */
function refuseUnlessBuyer(job: JobRow, { wallet }: Pick<Payer, 'wallet'>): void {
  if (wallet !== job.buyer_wallet) throw notYours('The job')
}

/** @throws AppError 403 for anyone but the job's provider */
function refuseUnlessProvider(job: JobRow, { id }: Pick<ParticipantRow, 'id'>): void {
  if (id !== job.provider_id) throw notYours('The job')
}
