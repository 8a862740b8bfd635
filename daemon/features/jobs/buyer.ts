import { AppError } from '../../../src/core/error.ts'
import { ZERO } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Verification } from '../../../src/model/job.ts'
import { transition } from '../../kernel/machine.ts'
import { ownIds } from '../../kernel/parties.ts'
import { isSuspended, type ParticipantRow, participants } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { isTaken } from '../escrow/deal.ts'
import { applyStep } from './apply.ts'
import { type JobRole, jobMachine } from './machine.ts'
import { sayAside } from './notify.ts'
import { type JobRow, jobParties, jobs, putJob } from './rows.ts'

/** How long a buyer may rate an automatically verified delivery. */
const LATE_VERIFY_MS = 7 * DAY_MS
const RATED = 'rated'

export type Opinion = { readonly rating?: number | undefined; readonly comment?: string | undefined }

type Verified = { readonly job: JobRow; readonly opinion: Opinion; readonly at: number }

/**
 * Effect of a buyer's verification. `verifies` accepts a delivery that waits for it. `rates` only rates an
 * automatically verified delivery and moves no money (decisions §8).
 * @throws AppError 409 when neither applies.
 */
export function verifyEffect(job: JobRow, now: number): 'verifies' | 'rates' {
  const isDone = job.status === 'verified' || job.status === 'released'
  const { verification } = job
  if (isDone && verification?.by === 'auto' && now <= verification.at + LATE_VERIFY_MS) return 'rates'
  transition(jobMachine, { event: 'verify', from: job.status, by: 'buyer' })
  return 'verifies'
}

/** Accepts a delivery or only rates it (see `verifyEffect`); the escrow monitor pays later. @throws AppError 409 */
export function verifyByBuyer(t: Tx, draw: Draw, verified: Verified): Promise<JobRow> {
  const { job, at } = verified
  const verification = verificationOf(verified)
  if (verifyEffect(job, at) === 'rates') return rate(t, draw, { job, verification, at })
  return applyStep(t, draw, { job, step: { event: 'verify', by: 'buyer', at, change: { verification } } })
}

/** Accepts a delivery and pays, unless the release must wait. Only rates an auto-accepted one. @throws AppError 409 */
export async function verifyAndRelease(t: Tx, draw: Draw, verified: Verified): Promise<JobRow> {
  const { job, at } = verified
  const good = await verifyByBuyer(t, draw, verified)
  return job.status === 'completed' ? releaseUnlessWaiting(t, draw, { job: good, by: 'buyer', at }) : good
}

function verificationOf({ opinion, at }: Verified): Verification {
  return { by: 'buyer', rating: opinion.rating ?? null, comment: opinion.comment ?? null, at }
}

type Rated = { readonly job: JobRow; readonly verification: Verification; readonly at: number }

/** Stores a buyer's rating once; the job's state and money do not change. */
async function rate(t: Tx, draw: Draw, { job, verification, at }: Rated): Promise<JobRow> {
  const { rating } = verification
  const detail = rating === null ? '' : `${rating} of 5`
  const timeline = [...job.timeline, { at, event: RATED, detail }]
  const changed = await putJob(t, { ...job, verification, timeline })
  const stars = rating === null ? '' : `, ${rating} of 5`
  const money = job.amount === ZERO ? '' : ' This moves no money.'
  const body = `The buyer has verified the delivery${stars}.${money}`
  await sayAside(t, draw, { job: changed, type: `job.${RATED}`, body, data: { rating }, at })
  return changed
}

const PAUSED_RETRY_SECONDS = 60

/** Start of the escrow pause, during which only refunds are allowed; null if escrow is not paused. */
export async function escrowPausedAt(t: ReadTx): Promise<number | null> {
  return (await readPlatform(t)).escrow_paused_at
}

/** @throws AppError 503 `paused` while escrow is paused (decisions §8) */
export function refuseEscrowPaused(since: number | null): void {
  if (since === null) return
  const paused_at = new Date(since).toISOString()
  throw new AppError('paused', `Escrow has been paused since ${paused_at}: it accepts and releases no payments.`, {
    retryAfter: PAUSED_RETRY_SECONDS,
    extra: { feature: 'escrow', paused_at },
  })
}

type Due = { readonly job: JobRow; readonly by: JobRole; readonly at: number }

/** Interval of checks whether a provider may be paid. The end of a suspension also triggers a check. */
const REVIEW_MS = DAY_MS
const WAITS = 'release_waits'

/**
 * Pays the provider of a verified job. Waits while escrow is paused, the provider is suspended, or the contract's state
 * is unclear.
 */
export async function releaseUnlessWaiting(t: Tx, draw: Draw, { job, by, at }: Due): Promise<JobRow> {
  if ((await escrowPausedAt(t)) !== null || (await isTaken(t, job.id))) return job
  if (isSuspended(await t.table(participants).get(job.provider_id))) return putOff(t, job, at)
  return applyStep(t, draw, { job, step: { event: 'release', by, at } })
}

function putOff(t: Tx, job: JobRow, at: number): Promise<JobRow> {
  const entry = { at, event: WAITS, detail: 'the provider is suspended' }
  const isKnown = job.timeline.some(({ event }) => event === WAITS)
  return putJob(t, {
    ...job,
    next_event_at: at + REVIEW_MS,
    timeline: isKnown ? job.timeline : [...job.timeline, entry],
  })
}

/** Maximum jobs of a provider that are paid when its suspension ends; the other jobs are paid within a day. */
const MAX_RELEASED = 1_000

/** Schedules the payment of jobs that waited because their provider was suspended. */
export async function releaseWaiting(t: Tx, provider: Pick<ParticipantRow, 'wallet'>, at: number): Promise<void> {
  const query = {
    wallet: provider.wallet,
    role: 'provider',
    status: 'verified',
    limit: MAX_RELEASED,
    offset: 0,
  } as const
  for (const id of (await ownIds(t, jobParties, query)).ids) {
    const job = await t.table(jobs).getForUpdate(id)
    if (job?.next_event === 'release') await putJob(t, { ...job, next_event_at: at })
  }
}
