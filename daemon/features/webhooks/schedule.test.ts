import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { afterTry, type DeliveryOutcome, RETRY_DELAYS_MS, retryAfterMs } from './schedule.ts'

const failed: DeliveryOutcome = { ok: false, status: 500, retryAfterMs: null }
const first = { tries: 1, maxTries: 8, now: 0, jitter: 0 }

describe('the schedule', () => {
  it('is at once, then after 1 s, 2 s, 30 s, 5 min, 30 min, 2 h and 6 h, and then over', () => {
    const pauses: (number | null)[] = []
    for (let tries = 1; tries <= 8; tries += 1) pauses.push(afterTry(failed, { ...first, tries }).nextAt)
    expect(pauses).toEqual([
      SECOND_MS,
      2 * SECOND_MS,
      30 * SECOND_MS,
      5 * MINUTE_MS,
      30 * MINUTE_MS,
      2 * HOUR_MS,
      6 * HOUR_MS,
      null,
    ])
    expect(afterTry(failed, { ...first, tries: 8 })).toMatchObject({ state: 'dead', reason: 'failed after 8 tries' })
  })

  it('never asks before its time, and at most a fifth later', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 7 }), fc.double({ min: 0, max: 1, noNaN: true }), (tries, jitter) => {
        const delay = RETRY_DELAYS_MS[tries] as number
        const { nextAt } = afterTry(failed, { tries, maxTries: 8, now: 1_000, jitter })
        expect(nextAt).toBeGreaterThanOrEqual(1_000 + delay)
        expect(nextAt).toBeLessThanOrEqual(1_000 + delay * 1.2)
      }),
    )
  })

  it('ends with what was taken, and with an endpoint that is gone', () => {
    expect(afterTry({ ...failed, ok: true, status: 200 }, first)).toEqual({
      state: 'delivered',
      nextAt: null,
      reason: null,
    })
    expect(afterTry({ ...failed, status: 410 }, first)).toMatchObject({ state: 'dead', nextAt: null })
    expect(afterTry(failed, { ...first, maxTries: 1 })).toMatchObject({ state: 'dead', reason: 'failed after 1 try' })
  })

  it('waits as long as the endpoint asks, a day at most, and never shorter than planned', () => {
    const asked = (ms: number) => afterTry({ ...failed, status: 429, retryAfterMs: ms }, first).nextAt
    expect(asked(90 * SECOND_MS)).toBe(90 * SECOND_MS)
    expect(asked(10 * DAY_MS)).toBe(DAY_MS)
    expect(asked(10)).toBe(SECOND_MS)
  })
})

test.each<[string | undefined, number | null]>([
  [undefined, null],
  ['', null],
  ['120', 120_000],
  [' 5 ', 5_000],
  ['-1', null],
  ['1.5', null],
  ['soon', null],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 59_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
])('Retry-After %j is %j ms', (header, expected) => {
  expect(retryAfterMs(header, 1_000)).toBe(expected)
})
