import type { Hex } from '../../../src/core/hex.ts'
import { keccak256 } from '../../../src/core/keccak.ts'
import { type Digest, digestOf } from '../../kernel/canonical.ts'
import type { CountedJobRow, Sums } from './rows.ts'
import {
  completionRate,
  HALF_CONFIDENCE_JOBS,
  minus,
  PRIOR_JOBS,
  PRIOR_SCORE,
  plus,
  standingOf,
  weights,
} from './score.ts'

/** Maximum jobs per document. A further job starts a new document, which refers to the previous one. */
export const MAX_ENTRIES = 50

const TYPE = 'souk/score-evidence/1'
const TENTHS = 10

export type EvidenceEntry = Pick<CountedJobRow, 'id' | 'service_type' | 'facts' | 'sums' | 'replaces'>

export type Evidence = {
  readonly subjectId: string
  /** Root of the previous document. `before` has the sums of all earlier documents. */
  readonly previous: Hex | null
  readonly before: Sums
  readonly entries: readonly EvidenceEntry[]
  /** Business time, epoch milliseconds. */
  readonly issuedAt: number
}

/** Sums over all jobs up to the end of a document. */
export function totalOf({ before, entries }: Pick<Evidence, 'before' | 'entries'>): Sums {
  return entries.reduce((total, { sums, replaces }) => {
    const added = plus(total, sums)
    return replaces ? minus(added, replaces) : added
  }, before)
}

/**
 * The evidence of a score: for each job its facts and the hash of its id, but no content. The root of a document is the
 * keccak-256 of its bytes.
 */
export function evidenceDocument(evidence: Evidence): Digest {
  const { subjectId, previous, before, entries, issuedAt } = evidence
  const total = totalOf(evidence)
  const { score, confidence, dimensions } = standingOf(total)
  return digestOf({
    type: TYPE,
    subject_id: subjectId,
    issued_at: new Date(issuedAt).toISOString(),
    method: {
      prior_score: PRIOR_SCORE,
      prior_jobs: PRIOR_JOBS,
      half_confidence_jobs: HALF_CONFIDENCE_JOBS,
      weights: Object.fromEntries(Object.entries(weights).map(([name, tenths]) => [name, tenths / TENTHS])),
    },
    previous,
    before: shown(before),
    jobs: entries.map(jobOf),
    total: shown(total),
    score,
    confidence,
    dimensions,
    completion_rate: completionRate(total),
  })
}

function jobOf({ id, service_type, facts, sums, replaces }: EvidenceEntry): object {
  const { quality, reliability, speed, communication, score } = sums
  return {
    job: keccak256(id),
    service_type,
    ...facts,
    quality,
    reliability,
    speed,
    communication,
    score: score / TENTHS,
    ...(replaces ? { replaces: shown(replaces) } : {}),
  }
}

function shown(sums: Sums): Sums {
  return { ...sums, score: sums.score / TENTHS }
}

/** The hash by which the chain refers to a subject. */
export function subjectHash(subjectId: string): Hex {
  return keccak256(subjectId)
}
