import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts'
import { dailyAt, everyFiveMinutes, everyHour, everyMinute, everyQuarterHour, schedule } from './schedule.ts'

/** A regular schedule written down the naive way: times are `offset` after a multiple of the interval. */
const cases = [
  { name: 'every minute', of: everyMinute, intervalMs: MINUTE_MS, offsetMs: 0 },
  { name: 'every 5 minutes', of: everyFiveMinutes, intervalMs: 5 * MINUTE_MS, offsetMs: 0 },
  { name: 'every 15 minutes', of: everyQuarterHour, intervalMs: 15 * MINUTE_MS, offsetMs: 0 },
  { name: 'every hour', of: everyHour, intervalMs: HOUR_MS, offsetMs: 0 },
  { name: 'daily at 03:00', of: dailyAt(3), intervalMs: DAY_MS, offsetMs: 3 * HOUR_MS },
  { name: 'daily at 02:00', of: dailyAt(2), intervalMs: DAY_MS, offsetMs: 2 * HOUR_MS },
]

const time = fc.integer({ min: Date.UTC(1972, 0, 1), max: Date.UTC(2120, 0, 1) })

describe.each(cases)('$name', ({ of, intervalMs, offsetMs }) => {
  const latest = (at: number) => Math.floor((at - offsetMs) / intervalMs) * intervalMs + offsetMs

  test('goes by its interval', () => expect(of.intervalMs).toBe(intervalMs))

  test('is where plain arithmetic puts it, on the times themselves and between them', () => {
    fc.assert(
      fc.property(time, fc.boolean(), (any, isExact) => {
        const at = isExact ? latest(any) : any
        expect(of.latest(at)).toBe(latest(at))
        expect(of.after(at)).toBe(latest(at) + intervalMs)
      }),
      { numRuns: 300 },
    )
  })

  test('leaves out nothing and repeats nothing over a walk', () => {
    fc.assert(
      fc.property(time, (start) => {
        let at = start
        for (let step = 1; step <= 5; step += 1) {
          at = of.after(at)
          expect(at).toBe(latest(start) + step * intervalMs)
        }
      }),
      { numRuns: 50 },
    )
  })
})

test('a pattern that is none is refused when it is declared', () => {
  expect(() => schedule('every monday')).toThrow()
  expect(() => schedule('* * *')).toThrow()
})
