import type { z } from 'zod'
import type { Trust } from '../../../src/api/sections/services.ts'
import { checksumAddress } from '../../../src/core/hex.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { jobParties } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { type StandingRow, type Sums, standings } from './rows.ts'
import { ESTABLISHED_JOBS, NO_JOBS, type Standing, standingOf } from './score.ts'
import { lockStanding, ofProvider } from './standings.ts'

/* Trust verdicts (decisions §11): `verified` from `VERIFIED_SCORE` on, `degraded` from `DEGRADED_SCORE` on. */

const VERIFIED_SCORE = 70
const DEGRADED_SCORE = 40
/** A subject is flagged if one in N of its jobs was disputed, or one in N was not completed. */
const FLAGGED_ONE_IN = 5

type Label = 'verified' | 'degraded' | 'failed' | 'unknown'
type Verdict = Label | 'withheld'

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
type EvidenceLevel = 0 | 1 | 2 | 3 | 4

type LevelFacts = {
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

const riskFlags = ['often_disputed', 'often_failed', 'unreachable'] as const
type RiskFlag = (typeof riskFlags)[number]

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

export function judge(sums: Sums, facts: LevelFacts, options: { readonly showsNegative: boolean }) {
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

export type TrustView = z.output<typeof Trust>

/** Name of the switch that shows negative verdicts (decisions §11). */
export const NEGATIVE_LABELS = 'trust.negative_labels'

/** How long a verdict is valid. */
export const VERDICT_MS = DAY_MS

export type TrustAsked = {
  /** Business time. */
  readonly now: number
  readonly baseUrl: string
}

/** Trust verdict on a participant, from stored data (specification, Trust object). */
export async function trustOf(t: ReadTx, subject: ParticipantRow, { now, baseUrl }: TrustAsked): Promise<TrustView> {
  const standing = await t.table(standings).get(ofProvider(subject.id).id)
  const { enabled } = await readPlatform(t)
  const facts = await levelFacts(t, subject, standing)
  const judged = judge(standing?.sums ?? NO_JOBS, facts, { showsNegative: enabled.includes(NEGATIVE_LABELS) })
  const issuedAt = issueTime(standing?.updated_at ?? null, now)
  return {
    ...judged,
    sandbox_verified: facts.isTested,
    disputed: (await t.table(jobParties).count('wallet_role_status', [subject.wallet, 'provider', 'disputed'])) > 0,
    issued_at: issuedAt,
    expires_at: issuedAt === null ? null : issuedAt + VERDICT_MS,
    subject_id: subject.id,
    subject_count: await t.table(services).count('provider', [subject.id, 'active']),
    trust_url: `${baseUrl}/v1/reputation/${checksumAddress(subject.wallet)}`,
    first_party: subject.first_party,
  }
}

/** The verdict on a wallet that never registered. */
export function trustOfStranger(): TrustView {
  return {
    verdict: 'unknown',
    level: 0,
    level_name: 'indexed',
    confidence: 0,
    sandbox_verified: false,
    disputed: false,
    risk_flags: [],
    issued_at: null,
    expires_at: null,
    subject_id: null,
    subject_count: 0,
    trust_url: null,
    first_party: false,
    score: null,
    is_new: true,
  }
}

/** Issue time of a verdict: the time of the last job count, plus all whole validity periods since then. */
function issueTime(countedAt: number | null, now: number): number | null {
  if (countedAt === null) return null
  return countedAt + Math.floor(Math.max(0, now - countedAt) / VERDICT_MS) * VERDICT_MS
}

async function levelFacts(
  t: ReadTx,
  { id, verification_tier: tier }: ParticipantRow,
  standing: StandingRow | undefined,
): Promise<LevelFacts> {
  return {
    isReachable: (await t.table(services).count('healthy', [id, 'active'])) > 0,
    isTested: (standing?.tested_at ?? null) !== null,
    successfulJobs: standing?.sums.successful ?? 0,
    isIdentified: tier === 'identity_verified',
  }
}

/** Records that a provider's endpoint accepted a test job. */
export async function noteTested(t: Tx, providerId: string, at: number): Promise<void> {
  const row = await lockStanding(t, ofProvider(providerId), NO_JOBS)
  await t.table(standings).put({ ...row, tested_at: at })
}
