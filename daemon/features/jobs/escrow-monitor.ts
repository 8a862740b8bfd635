import { AppError } from '../../../src/core/error.ts'
import { formatAmount, type Usdc, ZERO } from '../../../src/core/money.ts'
import { compact } from '../../../src/core/record.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts'
import { type Dispute, type JobDueEvent, type Ruling, workingJobStatuses } from '../../../src/model/job.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { type DueWork, dueWork, earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import type { Context } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { type Platform, readPlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { contractMirror, type LeftContract, leftContract } from '../escrow/contract.ts'
import { isTaken } from '../escrow/deal.ts'
import { hasMoneyIn } from '../ledger/rows.ts'
import { applyStep, lockJob } from './apply.ts'
import { escrowPausedAt, refuseEscrowPaused, releaseUnlessWaiting } from './buyer.ts'
import { deciderOf, halfOf } from './dispute-decision.ts'
import { missedSpans, mustLook, watchTime } from './downtime.ts'
import { leaveAfterEnd } from './escrow.ts'
import { extendedDeadline, reviewEnd, UNDECIDED_MS } from './job-deadlines.ts'
import { type JobEvent, jobMachine } from './machine.ts'
import { remindOf } from './notify.ts'
import { verifyAutomatically } from './report.ts'
import { type JobRow, jobs, putJob } from './rows.ts'

type Item = { readonly job: JobRow; readonly at: number; readonly platform: Platform }

type Kind = {
  readonly event: JobDueEvent
  /** Whether this work waits because of a platform switch, such as the platform pause. */
  readonly rests: (platform: Platform) => boolean
  readonly before?: (ctx: Context, now: number) => Promise<void>
  /** Whether the work must run now even if nothing is due. */
  readonly isPressing?: (t: ReadTx, platform: Platform) => Promise<boolean>
  readonly act: (t: Tx, draw: Draw, item: Item) => Promise<unknown>
}

const kinds: readonly Kind[] = [
  {
    event: 'verify',
    // The time to review a delivery stops while the buyer cannot act; see `watchTime`.
    rests: (platform) => platform.paused_at !== null,
    before: (ctx, now) => watchTime(ctx, { now }),
    isPressing: (t, platform) => mustLook(t, platform.paused_at !== null),
    act: endReview,
  },
  { event: 'resolve', rests: () => false, act: resolveByDefault },
  { event: 'remind', rests: () => false, act: remind },
  {
    event: 'release',
    rests: (platform) => platform.escrow_paused_at !== null,
    act: (t, draw, { job, at }) => releaseUnlessWaiting(t, draw, { job, by: 'system', at }),
  },
  {
    event: 'expire',
    // A pause does not shorten the provider's time; see `watchTime`.
    rests: (platform) => platform.paused_at !== null,
    before: (ctx, now) => watchTime(ctx, { now }),
    isPressing: (t, platform) => mustLook(t, platform.paused_at !== null),
    act: expire,
  },
]

/** How often to check a job whose money an external call released, until that call is final. */
const TAKEN_MS = MINUTE_MS

/** Ends the review of a delivery, or extends it by the time in which the marketplace was down or paused. */
async function endReview(t: Tx, draw: Draw, { job, at }: Item): Promise<unknown> {
  const isWatched = job.service_type === 'human_service' && job.completed_at !== null
  const end = isWatched ? reviewEnd(job.completed_at ?? at, await missedSpans(t)) : at
  if (end <= at) return verifyAutomatically(t, draw, { job, at })
  const event = 'review_extended'
  const entry = { at, event, detail: 'the marketplace was down or paused at that time' }
  const timeline = [...job.timeline.filter((known) => known.event !== event), entry]
  return putJob(t, { ...job, next_event_at: end, timeline })
}

/** Applies the default ruling of a dispute. If there is none, the operator decides. */
async function resolveByDefault(t: Tx, draw: Draw, item: Item): Promise<unknown> {
  const { job, at, platform } = item
  const outcome = deciderOf(job.dispute)?.outcome ?? null
  if (outcome === null) return remind(t, draw, item)
  // A split also pays the provider, so it waits while escrow is paused.
  if (outcome === 'split' && platform.escrow_paused_at !== null) {
    return putJob(t, { ...job, next_event_at: at + HOUR_MS })
  }
  const toBuyer = outcome === 'split' ? halfOf(job.amount) : undefined
  const reason = 'The operator did not decide in time.'
  return ruleOn(t, draw, { job, decision: { outcome, toBuyer, reason, by: 'system', at } })
}

async function remind(t: Tx, draw: Draw, { job, at }: Item): Promise<unknown> {
  await remindOf(t, draw, { job, at })
  return putJob(t, { ...job, next_event: 'remind', next_event_at: at + UNDECIDED_MS })
}

/** Expires a job. If its deadline passed while the marketplace was down or paused, extends the deadline instead. */
async function expire(t: Tx, draw: Draw, { job, at }: Item): Promise<unknown> {
  const extended = extendedDeadline(job, await missedSpans(t))
  if (extended === undefined) {
    const detail = job.amount === ZERO ? '' : `$${formatAmount(job.amount)} is refunded.`
    return applyStep(t, draw, { job, step: { event: 'expire', by: 'system', at, detail } })
  }
  const entry = { at, event: 'deadline_extended', detail: 'deadline passed while the marketplace was down or paused' }
  return putJob(t, { ...job, deadline_at: extended, next_event_at: extended, timeline: [...job.timeline, entry] })
}

/** Due work on jobs, in the escrow monitor's order. */
export const jobWork: readonly DueWork[] = kinds.map(({ event, rests, before, isPressing, act }) =>
  dueWork({
    name: `job.${event}`,
    collection: jobs,
    index: 'due',
    prefix: [event],
    dueAt: (job) => job.next_event_at,
    rests,
    ...compact({ before, isPressing }),
    run: (ctx, id, now) =>
      commit(ctx, async (t, draw) => {
        const platform = await readPlatform(t)
        const job = await lockJob(t, id)
        if (job?.next_event !== event || !isDue(job, now) || rests(platform)) return
        if (await isTaken(t, id)) await putJob(t, { ...job, next_event_at: now + TAKEN_MS })
        else await act(t, draw, { job, at: now, platform })
      }),
  }),
)

function isDue(job: JobRow, now: number): boolean {
  return job.next_event_at !== null && job.next_event_at <= now
}

/** Advances jobs: verification, release, deadlines (decisions §8). */
export const escrowMonitor = defineCron({
  name: 'escrow-monitor',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  async run(call) {
    // Record payouts of the contract first, so that no job is paid twice.
    await contractMirror.of(call.ctx)?.look()
    const holds = await hasMoneyIn(call.ctx, ['esc'])
    const done = await runDueWork(jobWork, call)
    return holds || done > 0 ? undefined : idleUnderCutover(call.ctx)
  },
  nextDue: (ctx, from) => earliestDue(jobWork, ctx, from),
})

const eventOf: Readonly<Record<Ruling, JobEvent>> = {
  release: 'rule_release',
  refund: 'rule_refund',
  split: 'rule_split',
}

type RulingDecision = {
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
