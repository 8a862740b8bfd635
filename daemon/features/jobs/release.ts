import { AppError } from '../../../src/core/error.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { isSuspended } from '../../kernel/participant.ts'
import { ownIds } from '../../kernel/parties.ts'
import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { Draw } from '../../store/draw.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { isTaken } from '../escrow/deal.ts'
import { applyStep } from './apply.ts'
import type { JobRole } from './machine.ts'
import { type JobRow, jobParties, jobs, putJob } from './rows.ts'

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
