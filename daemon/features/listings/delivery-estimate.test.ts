import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import {
  deadlineMs,
  LONGEST_DEADLINE_MS,
  parseEstimate,
  SHORTEST_DEADLINE_MS,
  UNKNOWN_DEADLINE_MS,
} from './delivery-estimate.ts'

test.each([
  ['10 seconds', 10 * SECOND_MS],
  ['1-3 minutes', 3 * MINUTE_MS],
  ['1 – 3 Minutes', 3 * MINUTE_MS],
  ['30min', 30 * MINUTE_MS],
  ['24h', 24 * HOUR_MS],
  ['1.5 hours', 90 * MINUTE_MS],
  ['within 48 hrs', 48 * HOUR_MS],
  ['2 to 4 days', 4 * DAY_MS],
  ['90 min to 2 hours', 2 * HOUR_MS],
  ['2-day turnaround', 2 * DAY_MS],
  ['3 business days', 3 * DAY_MS],
  ['5-3 days', 5 * DAY_MS],
  ['about 1 week', 7 * DAY_MS],
  ['1 month', 30 * DAY_MS],
  ['instant', undefined],
  ['soon', undefined],
  ['', undefined],
  ['3', undefined],
  ['3 moons', undefined],
  ['4 dogs', undefined],
])('"%s" takes %s ms', (text, ms) => {
  expect(parseEstimate(text)).toBe(ms)
})

describe('a deadline', () => {
  test.each([
    ['10 seconds', DAY_MS],
    ['8 hours', DAY_MS],
    ['1-3 days', 9 * DAY_MS],
    ['3 days', 9 * DAY_MS],
    ['2 weeks', 14 * DAY_MS],
    ['999999999 months', 14 * DAY_MS],
    ['0 days', DAY_MS],
    ['whenever it is done', 7 * DAY_MS],
  ])('for "%s" is after %d ms', (text, ms) => {
    expect(deadlineMs(text)).toBe(ms)
  })

  const unit = fc.constantFrom('seconds', 'min', 'hours', 'd', 'weeks', 'months')
  const count = fc.integer({ min: 0, max: 1_000_000 })

  test('lies within its bounds for any text', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789.- dhmstow') }))
    fc.assert(
      fc.property(text, (estimate) => {
        const ms = deadlineMs(estimate)
        expect(ms >= SHORTEST_DEADLINE_MS && ms <= LONGEST_DEADLINE_MS && Number.isInteger(ms)).toBe(true)
        if (parseEstimate(estimate) === undefined) expect(ms).toBe(UNKNOWN_DEADLINE_MS)
      }),
    )
  })

  test('follows the upper end of a range, and never falls when the estimate rises', () => {
    fc.assert(
      fc.property(count, count, unit, (a, b, name) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        expect(parseEstimate(`${low}-${high} ${name}`)).toBe(parseEstimate(`${high} ${name}`))
        expect(deadlineMs(`${high} ${name}`)).toBeGreaterThanOrEqual(deadlineMs(`${low} ${name}`))
      }),
    )
  })
})
