import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { type Dispute, type Ruling, workingJobStatuses } from '../../../src/model/job.ts'
import { transition } from '../../kernel/machine.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { type LeftContract, leftContract } from '../escrow/contract.ts'
import { applyStep, lockJob } from './apply.ts'
import { leaveAfterEnd } from './escrow.ts'
import { type JobEvent, jobMachine } from './machine.ts'
import { escrowPausedAt, refuseEscrowPaused, releaseUnlessWaiting } from './release.ts'
import { type JobRow, putJob } from './rows.ts'

const eventOf: Readonly<Record<Ruling, JobEvent>> = {
  release: 'rule_release',
  refund: 'rule_refund',
  split: 'rule_split',
}

export type RulingDecision = {
  readonly outcome: Ruling
  /** The buyer's part of a split. */
  readonly toBuyer?: Usdc | undefined
  readonly reason: string
  readonly by: 'admin' | 'system'
  readonly at: number
}

/**
 * Ends a dispute (decisions §8). A provider who wins is paid immediately or, while escrow is paused, after the pause.
 * @throws AppError 409 if no dispute is open, 503 for a split while escrow is paused, because a split pays the provider
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

type Withdrawal = {
  readonly job: JobRow
  readonly reason: string
  readonly at: number
  /** Whether the contract has already paid the buyer. */
  readonly isPaid?: boolean
}

/**
 * Refunds a job's hold to its buyer, even while escrow is paused.
 * @throws AppError 409 if the job is over or nothing is held
 */
export async function withdrawInEmergency(
  t: Tx,
  draw: Draw,
  { job, reason, at, isPaid = false }: Withdrawal,
): Promise<JobRow> {
  const event: JobEvent = isPaid ? 'withdraw' : 'emergency_withdraw'
  transition(jobMachine, { event, from: job.status, by: 'admin' })
  if (job.escrow_status !== 'held') {
    throw new AppError('conflict', `This job has no held funds (price $${formatAmount(job.amount)}).`)
  }
  const isDisputed = job.dispute?.status === 'open'
  const change = isDisputed ? { dispute: resolved(job, { outcome: 'refund', reason, by: 'admin', at }) } : {}
  return applyStep(t, draw, { job, step: { event, by: 'admin', at, detail: reason, change } })
}

const leftSentences = {
  timed_out: 'The buyer withdrew the funds from the escrow contract after the deadline.',
  withdrawn: 'The funds were withdrawn from the escrow contract in an emergency.',
} as const

/** Ends a job when the contract has paid its buyer, in the transaction that records this payment. */
export function followContract(): void {
  leftContract.follow(endPaidByContract)
}

async function endPaidByContract(t: Tx, draw: Draw, { jobId, how, at }: LeftContract): Promise<void> {
  const job = await lockJob(t, jobId)
  if (!job) throw new Error(`unknown job ${jobId}`)
  const detail = leftSentences[how]
  if (job.escrow_status !== 'held') {
    await leaveAfterEnd(t, draw, { job, at })
    await putJob(t, { ...job, timeline: [...job.timeline, { at, event: how, detail }] })
    return
  }
  const isLate = how === 'timed_out' && workingJobStatuses.some((status) => status === job.status)
  const isDisputed = job.dispute?.status === 'open'
  const decision = { outcome: 'refund', reason: detail, by: 'system', at } as const
  const change = isDisputed ? { dispute: resolved(job, decision) } : {}
  const event: JobEvent = isLate ? 'claim_timeout' : 'withdraw'
  await applyStep(t, draw, { job, step: { event, by: 'system', at, detail, change } })
}
