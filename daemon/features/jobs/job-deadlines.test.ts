import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import { type JobStatus, jobStatuses } from '../../../src/model/job.ts'
import { extendedDeadline, HUMAN_REVIEW_MS, nextOf, reviewEnd, withMissed } from './job-deadlines.ts'
import { isEnd } from './machine.ts'

const AT = 1_000_000
const job = (status: JobStatus, service_type: 'human_service' | 'data_api' = 'human_service') => ({
  status,
  service_type,
  deadline_at: AT + DAY_MS,
})

describe('what happens by itself', () => {
  test.each(jobStatuses)('%s: something, unless it is over', (status) => {
    expect(nextOf(job(status), AT) === null).toBe(isEnd(status))
  })

  test.each([
    [job('dispatched'), { event: 'expire', at: AT + DAY_MS }],
    [job('completed'), { event: 'verify', at: AT + 48 * HOUR_MS }],
    [job('completed', 'data_api'), { event: 'verify', at: AT }],
    [job('verified'), { event: 'release', at: AT }],
    [job('disputed'), { event: 'remind', at: AT + 3 * DAY_MS }],
    [{ ...job('dispatched'), deadline_at: null }, null],
  ])('%j: %j', (one, next) => {
    expect(nextOf(one, AT)).toEqual(next)
  })
})

describe('a deadline that passed', () => {
  const missed = [
    { from: 100 * DAY_MS, to: 103 * DAY_MS },
    { from: 200 * DAY_MS, to: 200 * DAY_MS + HOUR_MS / 2 },
  ]
  const bought = { created_at: 0 }

  test.each([
    ['before the watch slept', 100 * DAY_MS, undefined],
    ['while it slept', 101 * DAY_MS, 104 * DAY_MS],
    ['as it woke', 103 * DAY_MS, 106 * DAY_MS],
    ['after it', 103 * DAY_MS + 1, undefined],
    ['in a short sleep', 200 * DAY_MS + 1, 200 * DAY_MS + 1.5 * HOUR_MS],
  ])('%s', (_, deadline_at, moved) => {
    expect(extendedDeadline({ ...bought, deadline_at }, missed)).toBe(moved)
  })

  test('of a job that was bought while nothing was watched: only its own time counts', () => {
    const one = { created_at: 101 * DAY_MS, deadline_at: 102 * DAY_MS }
    expect(extendedDeadline(one, missed)).toBe(104 * DAY_MS)
  })

  test('that is none cannot be missed', () => {
    expect(extendedDeadline({ ...bought, deadline_at: null }, missed)).toBeUndefined()
  })
})

describe('time in which the marketplace could not be used', () => {
  const spans = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 3 * DAY_MS }), fc.integer({ min: 1, max: 3 * DAY_MS })), {
      maxLength: 12,
    })
    .map((steps) => {
      let at = 0
      return steps.map(([up, down]) => {
        const from = at + up
        at = from + down
        return { from, to: at }
      })
    })
  const usable = (missed: readonly { from: number; to: number }[], from: number, to: number) =>
    missed.reduce((left, span) => left - Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)), to - from)

  test('never runs against the buyer: of the window to its end exactly 48 h could be used', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 0, max: 20 * DAY_MS }), (missed, completedAt) => {
        expect(usable(missed, completedAt, reviewEnd(completedAt, missed))).toBe(HUMAN_REVIEW_MS)
      }),
    )
  })

  test('is never forgotten: what bounds its list only lengthens windows', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 20 * DAY_MS }), (all, limit, at) => {
        let kept: readonly { from: number; to: number }[] = []
        for (const span of all) kept = withMissed(kept, span, limit)
        expect(kept.length).toBeLessThanOrEqual(limit)
        expect(reviewEnd(at, kept)).toBeGreaterThanOrEqual(reviewEnd(at, all))
      }),
    )
  })
})
