import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bands, judge, labelOf, levelNames, levelOf, riskFlagsOf, verdictOf } from './routes.ts'
import type { Sums } from './rows.ts'
import { NO_JOBS } from './score.ts'

/** So many jobs, each of the given score in points. */
const jobs = (count: number, score: number, change: Partial<Sums> = {}): Sums => ({
  ...NO_JOBS,
  jobs: count,
  successful: count,
  score: count * score * 10,
  ...change,
})

const nothing = { isReachable: false, isTested: false, successfulJobs: 0, isIdentified: false }

test.each([
  [0, 75, 'unknown'],
  [1, 100, 'unknown'],
  [4, 70, 'unknown'],
  [5, 70, 'verified'],
  [500, 99.5, 'verified'],
  [4, 69.99, 'degraded'],
  [5, 69.99, 'degraded'],
  [5, 40, 'degraded'],
  [1, 39.99, 'failed'],
  [5, 0, 'failed'],
] as const)('%i jobs and a score of %f are %s', (total_jobs, score, label) => {
  expect(labelOf({ total_jobs, score })).toBe(label)
})

test.each([
  { label: 'verified', hidden: 'verified', band: 100, hiddenBand: 100 },
  { label: 'unknown', hidden: 'unknown', band: null, hiddenBand: null },
  { label: 'degraded', hidden: 'withheld', band: 50, hiddenBand: null },
  { label: 'failed', hidden: 'withheld', band: 0, hiddenBand: null },
] as const)('$label shows as it is with negative labels, else as $hidden', ({ label, hidden, band, hiddenBand }) => {
  expect([verdictOf(label, true), verdictOf(label, false)]).toEqual([label, hidden])
  expect([bands[label], bands[hidden]]).toEqual([band, hiddenBand])
})

test.each([
  [{}, 0],
  [{ isReachable: true }, 1],
  [{ isTested: true }, 2],
  [{ isReachable: true, isTested: true, isIdentified: true }, 2],
  [{ successfulJobs: 1 }, 3],
  [{ successfulJobs: 1, isIdentified: true }, 4],
  [{ isIdentified: true }, 0],
])('%o earns level %i', (facts, level) => {
  expect(levelOf({ ...nothing, ...facts })).toBe(level)
})

test('a level never falls with a further fact', () => {
  const facts = fc.record({
    isReachable: fc.boolean(),
    isTested: fc.boolean(),
    successfulJobs: fc.nat(3),
    isIdentified: fc.boolean(),
  })
  fc.assert(
    fc.property(facts, (known) => {
      const level = levelOf(known)
      for (const more of [{ isReachable: true }, { isTested: true }, { successfulJobs: 9 }, { isIdentified: true }]) {
        expect(levelOf({ ...known, ...more })).toBeGreaterThanOrEqual(level)
      }
    }),
  )
})

test('nothing bad is said while negative labels are off', () => {
  const sums = fc
    .record({ count: fc.integer({ min: 0, max: 30 }), score: fc.nat(100), disputed: fc.nat(30) })
    .map(({ count, score, disputed }) => jobs(count, score, { disputed: Math.min(count, disputed) }))
  fc.assert(
    fc.property(sums, (of) => {
      const quiet = judge(of, nothing, { showsNegative: false })
      const open = judge(of, nothing, { showsNegative: true })
      expect(['verified', 'unknown', 'withheld']).toContain(quiet.verdict)
      expect(quiet.risk_flags).toEqual([])
      expect(quiet.score === null || quiet.score === 100).toBe(true)
      expect(quiet.verdict === 'withheld').toBe(open.verdict === 'degraded' || open.verdict === 'failed')
      expect(open.score).toBe(bands[open.verdict])
      expect({ ...quiet, verdict: open.verdict, score: open.score, risk_flags: open.risk_flags }).toEqual(open)
    }),
  )
})

test('flags name what is wrong with an established subject', () => {
  const reachable = { isReachable: true }
  expect(riskFlagsOf(jobs(4, 0, { disputed: 4, successful: 0, failed: 4 }), nothing)).toEqual([])
  expect(riskFlagsOf(jobs(5, 80), reachable)).toEqual([])
  expect(riskFlagsOf(jobs(5, 80), nothing)).toEqual(['unreachable'])
  expect(riskFlagsOf(jobs(10, 80, { disputed: 2 }), reachable)).toEqual(['often_disputed'])
  expect(riskFlagsOf(jobs(10, 80, { successful: 8, failed: 2 }), reachable)).toEqual(['often_failed'])
})

test('a level is told by its name', () => {
  expect(judge(jobs(6, 90), { ...nothing, successfulJobs: 6 }, { showsNegative: false })).toEqual({
    verdict: 'verified',
    level: 3,
    level_name: 'job_proven',
    confidence: 0.375,
    risk_flags: [],
    score: 100,
    is_new: false,
  })
  expect(levelNames).toHaveLength(5)
})
