import { ZERO } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { Verification } from '../../../src/model/job.ts'
import { transition } from '../../kernel/machine.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { applyStep } from './apply.ts'
import { jobMachine } from './machine.ts'
import { sayAside } from './notify.ts'
import { releaseUnlessWaiting } from './release.ts'
import { type JobRow, putJob } from './rows.ts'

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
