import { keysOf, tableOf } from '../../../src/core/record.ts'
import { HOUR_MS } from '../../../src/core/time.ts'
import { type Dimension, dimensions } from '../../../src/model/words.ts'
import type { JobRow } from '../jobs/rows.ts'
import type { JobFacts, Sums } from './rows.ts'

/*
 * Reputation (decisions §11). A job's value follows from its facts, a subject's value from its jobs. Sums are integers,
 * so the order of jobs does not matter.
 */

/** Prior score. A subject starts as if it had `PRIOR_JOBS` jobs with this score. */
export const PRIOR_SCORE = 75
export const PRIOR_JOBS = 5
export const HALF_CONFIDENCE_JOBS = 10
/** Number of jobs from which a subject counts as established. */
export const ESTABLISHED_JOBS = 5
export const weights: Readonly<Record<Dimension, number>> = { quality: 4, reliability: 3, speed: 2, communication: 1 }

const FULL = 100
const TENTHS = 10

/** Quality of an unrated delivery, the same as for four of five stars. */
const UNRATED_QUALITY = 75
const POINTS_PER_STAR = 25
/** Highest quality after a recorded complaint or a split ruling. */
const DISPUTED_QUALITY = 25
const RECORDED_RELIABILITY = 60
const SPLIT_RELIABILITY = 40
const LATE_PENALTY = 25
/** Speed score of a delivery at the promised time. It falls by `LATE_SLOPE` for each promised duration of delay. */
const ON_TIME_SPEED = 80
const LATE_SLOPE = 40
/** Speed score if the provider promised no time. */
const UNPROMISED_SPEED = 75
/** A first response within this time gets full points. After three days it gets none. */
const PROMPT_MS = HOUR_MS
const RESPONSE_SPAN_MS = 72 * HOUR_MS

export const NO_JOBS: Sums = {
  jobs: 0,
  successful: 0,
  failed: 0,
  disputed: 0,
  quality: 0,
  reliability: 0,
  speed: 0,
  communication: 0,
  score: 0,
}

/**
 * Facts of a counted job; undefined while it is not final, and for excluded jobs. Excluded are free jobs and jobs
 * covered by a subscription, cancelled by the buyer, or refunded by the marketplace.
 * @param respondedAt - business time of the provider's first message, null if none
 */
export function factsOf(job: JobRow, respondedAt: number | null): JobFacts | undefined {
  const outcome = counts(job) ? outcomeOf(job) : undefined
  if (outcome === undefined) return undefined
  const begin = job.dispatched_at ?? job.created_at
  const since = (at: number | null) => (at === null ? null : Math.max(0, at - begin))
  const taken_ms = outcome === 'delivered' ? since(job.completed_at) : null
  return {
    outcome,
    dispute: disputeOf(job),
    rating: job.verification?.rating ?? null,
    taken_ms,
    estimate_ms: job.estimate_ms,
    // Without a schema, the job was delivered together with its purchase.
    response_ms: job.deliverable_schema === null ? 0 : least(since(respondedAt), taken_ms),
  }
}

export function counts({ amount, payment_method, ended_at }: JobRow): boolean {
  return amount > 0n && payment_method !== 'subscription' && ended_at !== null
}

function outcomeOf({ status, ended_by, dispute }: JobRow): JobFacts['outcome'] | undefined {
  switch (status) {
    case 'completed':
    case 'verified':
    case 'released':
      return 'delivered'
    case 'failed':
    case 'expired':
      return 'failed'
    case 'cancelled':
      return ended_by === 'buyer' ? undefined : 'failed'
    case 'refunded':
      return dispute === null ? undefined : 'failed'
    case 'created':
    case 'dispatched':
    case 'in_progress':
    case 'disputed':
      return undefined
  }
}

function disputeOf({ dispute }: JobRow): JobFacts['dispute'] {
  if (dispute === null) return 'none'
  if (dispute.resolution === null) return 'recorded'
  return ({ release: 'released', refund: 'refunded', split: 'split' } as const)[dispute.resolution]
}

function least(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

/** Points by dimension, 0 to 100. */
export function pointsOf(facts: JobFacts): Readonly<Record<Dimension, number>> {
  return {
    quality: qualityOf(facts),
    reliability: reliabilityOf(facts),
    speed: speedOf(facts),
    communication: communicationOf(facts),
  }
}

function qualityOf({ outcome, dispute, rating }: JobFacts): number {
  if (outcome === 'failed') return 0
  const quality = rating === null ? UNRATED_QUALITY : (rating - 1) * POINTS_PER_STAR
  return dispute === 'recorded' || dispute === 'split' ? Math.min(quality, DISPUTED_QUALITY) : quality
}

function reliabilityOf({ outcome, dispute, taken_ms, estimate_ms }: JobFacts): number {
  if (outcome === 'failed') return 0
  const isLate = taken_ms !== null && estimate_ms !== null && taken_ms > estimate_ms
  const kept = { none: FULL, released: FULL, recorded: RECORDED_RELIABILITY, split: SPLIT_RELIABILITY, refunded: 0 }
  return Math.max(0, kept[dispute] - (isLate ? LATE_PENALTY : 0))
}

function speedOf({ outcome, taken_ms: taken, estimate_ms: estimate }: JobFacts): number {
  if (outcome === 'failed' || taken === null) return 0
  if (taken === 0) return FULL
  if (estimate === null || estimate === 0) return UNPROMISED_SPEED
  if (taken <= estimate) return FULL - Math.floor(((FULL - ON_TIME_SPEED) * taken) / estimate)
  return Math.max(0, ON_TIME_SPEED - Math.floor((LATE_SLOPE * (taken - estimate)) / estimate))
}

function communicationOf({ response_ms: response }: JobFacts): number {
  if (response === null) return 0
  const late = Math.max(0, response - PROMPT_MS)
  return Math.max(0, FULL - Math.floor((FULL * late) / RESPONSE_SPAN_MS))
}

/** What a job adds to the reputation sums of its provider, its service, and the provider's service type. */
export function sumsOf(facts: JobFacts): Sums {
  const points = pointsOf(facts)
  const isSuccess = facts.outcome === 'delivered'
  return {
    jobs: 1,
    successful: isSuccess ? 1 : 0,
    failed: isSuccess ? 0 : 1,
    disputed: facts.dispute === 'none' ? 0 : 1,
    ...points,
    score: dimensions.reduce((sum, dimension) => sum + weights[dimension] * points[dimension], 0),
  }
}

export function plus(one: Sums, other: Sums): Sums {
  return combined(one, other, 1)
}

export function minus(one: Sums, other: Sums): Sums {
  return combined(one, other, -1)
}

function combined(one: Sums, other: Sums, sign: 1 | -1): Sums {
  return tableOf(keysOf(NO_JOBS), (name) => one[name] + sign * other[name])
}

/** A reputation as displayed: the score has two decimals, the confidence four. */
export type Standing = ReturnType<typeof standingOf>

const SCORE_DECIMALS = 2
const CONFIDENCE_DECIMALS = 4

export function standingOf(sums: Sums) {
  const { jobs } = sums
  const mean = (sum: number, unit: number) =>
    rounded(PRIOR_SCORE * PRIOR_JOBS * unit + sum, (PRIOR_JOBS + jobs) * unit, SCORE_DECIMALS)
  return {
    score: mean(sums.score, TENTHS),
    confidence: rounded(jobs, jobs + HALF_CONFIDENCE_JOBS, CONFIDENCE_DECIMALS),
    is_new: jobs < ESTABLISHED_JOBS,
    dimensions: {
      quality: mean(sums.quality, 1),
      speed: mean(sums.speed, 1),
      reliability: mean(sums.reliability, 1),
      communication: mean(sums.communication, 1),
    },
    total_jobs: jobs,
    successful_jobs: sums.successful,
    failed_jobs: sums.failed,
    disputed_jobs: sums.disputed,
  }
}

/** Share of successful jobs, 0 to 1; null without jobs. */
export function completionRate({ jobs, successful }: Sums): number | null {
  return jobs === 0 ? null : rounded(successful, jobs, CONFIDENCE_DECIMALS)
}

/** `part / whole`, rounded half up to `decimals` decimals. Both are nonnegative integers. */
function rounded(part: number, whole: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.floor((2 * part * scale + whole) / (2 * whole)) / scale
}
