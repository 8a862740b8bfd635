import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import type { Dispute, Ruling } from '../../../src/model/job.ts'
import { transition } from '../../kernel/machine.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { applyStep } from './apply.ts'
import { type JobEvent, jobMachine } from './machine.ts'
import { escrowPausedAt, refuseEscrowPaused, releaseUnlessWaiting } from './release.ts'
import type { JobRow } from './rows.ts'

const eventOf: Readonly<Record<Ruling, JobEvent>> = {
  release: 'rule_release',
  refund: 'rule_refund',
  split: 'rule_split',
}

export type RulingDecision = {
  readonly outcome: Ruling
  /** What a split gives to the buyer. */
  readonly toBuyer?: Usdc | undefined
  readonly reason: string
  readonly by: 'admin' | 'system'
  readonly at: number
}

/**
 * Ends a dispute (decisions §8). A provider that is found right is paid at once, or when escrow goes on.
 * @throws AppError 409 without an open dispute, 503 for a split while escrow is paused: it pays the provider too.
 */
export async function ruleOn(
  t: Tx,
  draw: Draw,
  { job, decision }: { readonly job: JobRow; readonly decision: RulingDecision },
): Promise<JobRow> {
  const { outcome, toBuyer, reason, by, at } = decision
  if (outcome === 'split') refuseEscrowPaused(await escrowPausedAt(t))
  const ruled = await applyStep(t, draw, {
    job,
    step: {
      event: eventOf[outcome],
      by,
      at,
      detail: reason,
      change: {
        dispute: resolved(job, decision),
        ...(outcome === 'release' ? { verification: { by: 'ruling', rating: null, comment: null, at } } : {}),
      },
      ...compact({ toBuyer }),
    },
  })
  return ruled.status === 'verified' ? releaseUnlessWaiting(t, draw, { job: ruled, by: 'system', at }) : ruled
}

function resolved({ dispute }: JobRow, { outcome, toBuyer, reason, by, at }: RulingDecision): Dispute | null {
  return (
    dispute && {
      ...dispute,
      status: 'resolved',
      resolution: outcome,
      buyer_amount: outcome === 'split' ? (toBuyer ?? null) : null,
      resolved_by: by,
      resolution_reason: reason,
      resolved_at: at,
    }
  )
}

type Withdrawal = { readonly job: JobRow; readonly reason: string; readonly at: number }

/**
 * Pays a hold back to the buyer of its job and to nobody else; callable while escrow is paused.
 * @throws AppError 409 when the job is over, or nothing is held.
 */
export async function withdrawInEmergency(t: Tx, draw: Draw, { job, reason, at }: Withdrawal): Promise<JobRow> {
  const event: JobEvent = 'emergency_withdraw'
  transition(jobMachine, { event, from: job.status, by: 'admin' })
  if (job.escrow_status !== 'held') {
    throw new AppError('conflict', `Nothing of the $${formatAmount(job.amount)} of this job is held.`)
  }
  const isDisputed = job.dispute?.status === 'open'
  const change = isDisputed ? { dispute: resolved(job, { outcome: 'refund', reason, by: 'admin', at }) } : {}
  return applyStep(t, draw, { job, step: { event, by: 'admin', at, detail: reason, change } })
}
