import type { z } from 'zod'
import type { Trust } from '../../../src/api/sections/services.ts'
import { checksumAddress } from '../../../src/core/hex.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { readPlatform } from '../../kernel/switches.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { jobParties } from '../jobs/rows.ts'
import { services } from '../listings/rows.ts'
import { type StandingRow, standings } from './rows.ts'
import { NO_JOBS } from './score.ts'
import { lockStanding, ofProvider } from './standings.ts'
import { judge, type LevelFacts } from './verdict.ts'

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
