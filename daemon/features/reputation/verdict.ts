import type { Sums } from './rows.ts'
import { ESTABLISHED_JOBS, type Standing, standingOf } from './score.ts'

/* Trust verdicts (decisions §11): `verified` from `VERIFIED_SCORE` on, `degraded` from `DEGRADED_SCORE` on. */

export const VERIFIED_SCORE = 70
export const DEGRADED_SCORE = 40
/** A subject is flagged if one in N of its jobs was disputed, or one in N was not completed. */
const FLAGGED_ONE_IN = 5

export type Label = 'verified' | 'degraded' | 'failed' | 'unknown'
export type Verdict = Label | 'withheld'

export const bands: Readonly<Record<Verdict, number | null>> = {
  verified: 100,
  degraded: 50,
  failed: 0,
  unknown: null,
  withheld: null,
}

export function labelOf({ total_jobs: jobs, score }: Pick<Standing, 'total_jobs' | 'score'>): Label {
  if (jobs === 0) return 'unknown'
  if (score >= VERIFIED_SCORE) return jobs < ESTABLISHED_JOBS ? 'unknown' : 'verified'
  return score >= DEGRADED_SCORE ? 'degraded' : 'failed'
}

/** The label, or `withheld` for a negative label while the switch for negative labels is off. */
export function verdictOf(label: Label, showsNegative: boolean): Verdict {
  return showsNegative || label === 'unknown' || label === 'verified' ? label : 'withheld'
}

export const levelNames = ['indexed', 'reachable', 'sandbox_verified', 'job_proven', 'identity_verified'] as const
export type EvidenceLevel = 0 | 1 | 2 | 3 | 4

export type LevelFacts = {
  /** Whether an active listing is available: its endpoint is healthy, or the listing is first-party. */
  readonly isReachable: boolean
  /** Whether an endpoint of the participant accepted a test job. */
  readonly isTested: boolean
  /** Number of jobs delivered to paying buyers. */
  readonly successfulJobs: number
  readonly isIdentified: boolean
}

/**
 * Trust level. A higher proof includes the lower ones, because a delivery implies reachability. A verified identity
 * counts only together with deliveries.
 */
export function levelOf({ isReachable, isTested, successfulJobs, isIdentified }: LevelFacts): EvidenceLevel {
  if (successfulJobs > 0) return isIdentified ? 4 : 3
  if (isTested) return 2
  return isReachable ? 1 : 0
}

export const riskFlags = ['often_disputed', 'often_failed', 'unreachable'] as const
export type RiskFlag = (typeof riskFlags)[number]

/** Warnings about an established subject. They are hidden like negative labels. */
export function riskFlagsOf(sums: Sums, { isReachable }: Pick<LevelFacts, 'isReachable'>): RiskFlag[] {
  if (sums.jobs < ESTABLISHED_JOBS) return []
  const raised: Readonly<Record<RiskFlag, boolean>> = {
    often_disputed: sums.disputed * FLAGGED_ONE_IN >= sums.jobs,
    often_failed: sums.failed * FLAGGED_ONE_IN >= sums.jobs,
    unreachable: !isReachable,
  }
  return riskFlags.filter((flag) => raised[flag])
}

/** A displayed verdict. */
export type Judgement = {
  readonly verdict: Verdict
  readonly level: EvidenceLevel
  readonly level_name: (typeof levelNames)[number]
  readonly confidence: number
  readonly risk_flags: RiskFlag[]
  readonly score: number | null
  readonly is_new: boolean
}

export function judge(sums: Sums, facts: LevelFacts, options: { readonly showsNegative: boolean }): Judgement {
  const standing = standingOf(sums)
  const verdict = verdictOf(labelOf(standing), options.showsNegative)
  const level = levelOf(facts)
  return {
    verdict,
    level,
    level_name: levelNames[level],
    confidence: standing.confidence,
    risk_flags: options.showsNegative ? riskFlagsOf(sums, facts) : [],
    score: bands[verdict],
    is_new: standing.is_new,
  }
}
