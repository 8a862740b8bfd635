import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jobDraft } from '../../../fixtures/kit/rows.ts'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { type Dispute, jobStatuses } from '../../../src/model/job.ts'
import { dimensions, disputeEnds } from '../../../src/model/words.ts'
import type { JobRow } from '../jobs/rows.ts'
import type { JobFacts, Sums } from './rows.ts'
import { completionRate, factsOf, minus, NO_JOBS, plus, pointsOf, standingOf, sumsOf } from './score.ts'

const duration = fc.nat(30 * DAY_MS)
const facts: fc.Arbitrary<JobFacts> = fc
  .record({
    outcome: fc.constantFrom('delivered' as const, 'delivered' as const, 'failed' as const),
    dispute: fc.constantFrom(...disputeEnds),
    rating: fc.option(fc.integer({ min: 1, max: 5 })),
    taken_ms: fc.option(duration),
    estimate_ms: fc.option(duration),
    response_ms: fc.option(duration),
  })
  .map((job) => (job.dispute === 'refunded' ? { ...job, outcome: 'failed' as const } : job))

const sumOf = (jobs: readonly JobFacts[]): Sums => jobs.map(sumsOf).reduce(plus, NO_JOBS)
const scoreOf = (jobs: readonly JobFacts[]): number => standingOf(sumOf(jobs)).score

const perfect: JobFacts = {
  outcome: 'delivered',
  dispute: 'none',
  rating: 5,
  taken_ms: 0,
  estimate_ms: HOUR_MS,
  response_ms: 0,
}

describe('a score', () => {
  test('of a new subject is 75 in all', () => {
    expect(standingOf(NO_JOBS)).toEqual({
      score: 75,
      confidence: 0,
      is_new: true,
      dimensions: { quality: 75, speed: 75, reliability: 75, communication: 75 },
      total_jobs: 0,
      successful_jobs: 0,
      failed_jobs: 0,
      disputed_jobs: 0,
    })
    expect(completionRate(NO_JOBS)).toBeNull()
  })

  test('is between 0 and 100, as are its dimensions, and says how much is known', () => {
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 30 }), (jobs) => {
        const sums = sumOf(jobs)
        const shown = standingOf(sums)
        for (const points of [shown.score, ...Object.values(shown.dimensions)]) {
          expect(points).toBeGreaterThanOrEqual(0)
          expect(points).toBeLessThanOrEqual(100)
        }
        expect(shown.confidence).toBeCloseTo(jobs.length / (jobs.length + 10), 4)
        expect(shown.is_new).toBe(jobs.length < 5)
        expect(shown.total_jobs).toBe(jobs.length)
        expect(shown.successful_jobs + shown.failed_jobs).toBe(jobs.length)
        expect(shown.disputed_jobs).toBe(jobs.filter(({ dispute }) => dispute !== 'none').length)
        const rate = completionRate(sums)
        expect(rate === null ? jobs.length : rate >= 0 && rate <= 1).toBe(jobs.length === 0 ? 0 : true)
      }),
    )
  })

  test('is the mean of the jobs and of five at 75', () => {
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 30 }), (jobs) => {
        const each = jobs.map((job) => {
          const { quality, reliability, speed, communication } = pointsOf(job)
          return 0.4 * quality + 0.3 * reliability + 0.2 * speed + 0.1 * communication
        })
        const mean = (75 * 5 + each.reduce((sum, score) => sum + score, 0)) / (5 + jobs.length)
        expect(scoreOf(jobs)).toBeCloseTo(mean, 1)
        expect(Math.abs(scoreOf(jobs) - mean)).toBeLessThanOrEqual(0.005 + 1e-9)
      }),
    )
  })

  test('does not depend on the order, nor on what was counted and taken back', () => {
    const shuffled = fc
      .array(facts, { maxLength: 20 })
      .chain((jobs) => fc.tuple(fc.constant(jobs), fc.shuffledSubarray(jobs, { minLength: jobs.length })))
    fc.assert(
      fc.property(shuffled, facts, ([jobs, other], extra) => {
        expect(sumOf(other)).toEqual(sumOf(jobs))
        expect(minus(plus(sumOf(jobs), sumsOf(extra)), sumsOf(extra))).toEqual(sumOf(jobs))
      }),
    )
  })

  test('never falls with a good job, nor rises with a bad one', () => {
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 20 }), (jobs) => {
        expect(scoreOf([...jobs, perfect])).toBeGreaterThanOrEqual(scoreOf(jobs))
        const failed: JobFacts = { ...perfect, outcome: 'failed', response_ms: null }
        expect(scoreOf([...jobs, failed])).toBeLessThanOrEqual(scoreOf(jobs))
      }),
    )
  })

  test.each([
    { name: 'a better rating', better: (job: JobFacts) => ({ ...job, rating: Math.min(5, (job.rating ?? 4) + 1) }) },
    { name: 'no dispute', better: (job: JobFacts) => ({ ...job, dispute: 'none' as const }) },
    {
      name: 'an earlier delivery',
      better: (job: JobFacts) => ({ ...job, taken_ms: job.taken_ms && Math.floor(job.taken_ms / 2) }),
    },
    {
      name: 'an earlier answer',
      better: (job: JobFacts) => ({ ...job, response_ms: job.response_ms && Math.floor(job.response_ms / 2) }),
    },
    { name: 'a delivery', better: (job: JobFacts) => ({ ...job, outcome: 'delivered' as const }) },
  ])('never falls with $name', ({ better }) => {
    fc.assert(
      fc.property(facts, (job) => {
        const [before, after] = [pointsOf(job), pointsOf(better(job))]
        for (const dimension of dimensions) expect(after[dimension]).toBeGreaterThanOrEqual(before[dimension])
      }),
    )
  })
})

describe('points', () => {
  test.each<[string, Partial<JobFacts>, number[]]>([
    ['a perfect job', {}, [100, 100, 100, 100]],
    ['unrated', { rating: null }, [75, 100, 100, 100]],
    ['the worst rating', { rating: 1 }, [0, 100, 100, 100]],
    ['just in time', { taken_ms: HOUR_MS }, [100, 100, 80, 100]],
    ['half the time', { taken_ms: HOUR_MS / 2 }, [100, 100, 90, 100]],
    ['twice as long as promised', { taken_ms: 2 * HOUR_MS }, [100, 75, 40, 100]],
    ['three times as long', { taken_ms: 3 * HOUR_MS }, [100, 75, 0, 100]],
    ['nothing promised', { estimate_ms: null, taken_ms: DAY_MS }, [100, 100, 75, 100]],
    ['an answer after 37 hours', { response_ms: 37 * HOUR_MS }, [100, 100, 100, 50]],
    ['no answer', { response_ms: null }, [100, 100, 100, 0]],
    ['a late complaint', { dispute: 'recorded' }, [25, 60, 100, 100]],
    ['a complaint that was turned down', { dispute: 'released', rating: null }, [75, 100, 100, 100]],
    ['paid in part', { dispute: 'split', rating: null }, [25, 40, 100, 100]],
    ['given back after a dispute', { outcome: 'failed', dispute: 'refunded', taken_ms: null }, [0, 0, 0, 100]],
    ['never heard of', { outcome: 'failed', taken_ms: null, response_ms: null }, [0, 0, 0, 0]],
  ])('of %s', (_, change, expected) => {
    const { quality, reliability, speed, communication } = pointsOf({ ...perfect, ...change })
    expect([quality, reliability, speed, communication]).toEqual(expected)
  })
})

const BEGIN = 1_000_000
const dispute: Dispute = {
  status: 'resolved',
  reason: 'bad',
  category: 'quality',
  evidence: [],
  opened_at: BEGIN,
  resolution: 'refund',
  buyer_amount: null,
  resolved_by: 'admin',
  resolution_reason: null,
  resolved_at: BEGIN,
}

/** A paid job that a person delivered an hour after it was dispatched. */
function job(change: Partial<JobRow> = {}): JobRow {
  return {
    ...jobDraft(BEGIN, { buyer: 1, provider: 2 }),
    version: 1,
    amount: usdc(500_000n),
    deliverable_schema: {},
    status: 'released',
    completed_at: BEGIN + HOUR_MS,
    ended_at: BEGIN + 2 * HOUR_MS,
    ended_by: 'system',
    estimate_ms: 2 * HOUR_MS,
    ...change,
  }
}

describe('facts', () => {
  test('of a delivered job are its times and what its buyer said', () => {
    const verification = { by: 'buyer' as const, rating: 4, comment: 'fine', at: BEGIN }
    expect(factsOf(job({ verification }), BEGIN + 60_000)).toEqual({
      outcome: 'delivered',
      dispute: 'none',
      rating: 4,
      taken_ms: HOUR_MS,
      estimate_ms: 2 * HOUR_MS,
      response_ms: 60_000,
    })
  })

  test('of an instant job: it was there at once', () => {
    const instant = job({ deliverable_schema: null, status: 'completed', completed_at: BEGIN, estimate_ms: null })
    expect(factsOf(instant, null)).toMatchObject({ outcome: 'delivered', taken_ms: 0, response_ms: 0 })
  })

  test('a delivery is an answer, too', () => {
    expect(factsOf(job(), null)?.response_ms).toBe(HOUR_MS)
    expect(factsOf(job(), BEGIN + DAY_MS)?.response_ms).toBe(HOUR_MS)
  })

  test.each<[string, Partial<JobRow>, JobFacts['outcome'] | undefined]>([
    ['that is free', { amount: usdc(0n) }, undefined],
    ['of a subscription', { payment_method: 'subscription' }, undefined],
    ['that has not ended', { ended_at: null }, undefined],
    ['that its buyer cancelled', { status: 'cancelled', ended_by: 'buyer' }, undefined],
    ['that its provider cancelled', { status: 'cancelled', ended_by: 'provider' }, 'failed'],
    ['that failed', { status: 'failed' }, 'failed'],
    ['that expired', { status: 'expired' }, 'failed'],
    ['withdrawn by the marketplace', { status: 'refunded' }, undefined],
    ['that was ruled for the buyer', { status: 'refunded', dispute }, 'failed'],
    ['that was ruled for the provider', { dispute: { ...dispute, resolution: 'release' } }, 'delivered'],
  ])('of a job %s', (_, change, outcome) => {
    expect(factsOf(job(change), null)?.outcome).toBe(outcome)
  })

  test('of a job in any state either are none or make a score', () => {
    const rows = fc.record({
      status: fc.constantFrom(...jobStatuses),
      ended_at: fc.constantFrom(null, BEGIN + DAY_MS),
      ended_by: fc.constantFrom('buyer' as const, 'provider' as const, 'system' as const),
      dispute: fc.constantFrom(null, dispute),
      completed_at: fc.constantFrom(null, BEGIN + HOUR_MS),
    })
    fc.assert(
      fc.property(rows, (change) => {
        const found = factsOf(job(change), null)
        if (change.ended_at === null) expect(found).toBeUndefined()
        if (found === undefined) return
        const { score } = sumsOf(found)
        expect(Number.isInteger(score) && score >= 0 && score <= 1_000).toBe(true)
      }),
    )
  })
})
