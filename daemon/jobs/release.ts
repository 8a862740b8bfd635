import { AppError } from '../../src/core/error.ts'
import type { JobRow } from '../../src/model/job.ts'
import type { JobRole } from '../rules/job-machine.ts'
import type { Draw } from '../store/draw.ts'
import { readPlatform } from '../store/platform.ts'
import type { ReadTx, Tx } from '../store/port.ts'
import { applyStep } from './apply.ts'

const PAUSED_RETRY_SECONDS = 60

/** Since when nothing enters or leaves escrow but refunds, or null. */
export async function escrowPausedAt(t: ReadTx): Promise<number | null> {
  return (await readPlatform(t)).escrow_paused_at
}

/** @throws AppError 503 `paused` while the escrow contract is (decisions §8). */
export function refuseEscrowPaused(since: number | null): void {
  if (since === null) return
  const paused_at = new Date(since).toISOString()
  throw new AppError('paused', `Escrow is paused since ${paused_at}: no job can be paid into it or out of it.`, {
    retryAfter: PAUSED_RETRY_SECONDS,
    extra: { feature: 'escrow', paused_at },
  })
}

type Due = { readonly job: JobRow; readonly by: JobRole; readonly at: number }

/** Pays the provider of a verified job; while escrow is paused the job waits as it is. */
export async function releaseUnlessPaused(t: Tx, draw: Draw, { job, by, at }: Due): Promise<JobRow> {
  if ((await escrowPausedAt(t)) !== null) return job
  return applyStep(t, draw, { job, step: { event: 'release', by, at } })
}
