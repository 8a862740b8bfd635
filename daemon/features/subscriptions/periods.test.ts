import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../../../src/core/time.ts'
import { type BillingPeriod, billingPeriods } from '../../../src/model/service.ts'
import { firstPeriod, periodStart, renewedPeriod } from './periods.ts'

const at = (text: string) => Date.parse(`${text}T09:30:15.250Z`)
const dates = (anchor: string, period: BillingPeriod, numbers: readonly number[]) =>
  numbers.map((number) => new Date(periodStart(at(anchor), period, number)).toISOString().slice(0, 10))
const MONTHS_OF = { monthly: 1, annual: 12 }

test.each([
  [
    '2026-01-31',
    'monthly',
    [1, 2, 3, 4, 5, 12, 13, 25],
    '02-28 03-31 04-30 05-31 06-30 2027-01-31 2027-02-28 2028-02-29',
  ],
  ['2027-12-31', 'monthly', [1, 2, 3, 14, 50], '2028-01-31 2028-02-29 2028-03-31 2029-02-28 2032-02-29'],
  ['2026-01-30', 'monthly', [1, 2, 25], '02-28 03-30 2028-02-29'],
  ['2026-01-29', 'monthly', [1, 25, 26], '02-28 2028-02-29 2028-03-29'],
  ['2026-08-15', 'monthly', [0, 4, 5], '08-15 12-15 2027-01-15'],
  [
    '2028-02-29',
    'annual',
    [0, 1, 2, 3, 4, 72, 76],
    '2028-02-29 2029-02-28 2030-02-28 2031-02-28 2032-02-29 2100-02-28 2104-02-29',
  ],
  ['2026-02-28', 'annual', [1, 2, 3], '2027-02-28 2028-02-28 2029-02-28'],
  ['1900-02-28', 'annual', [100], '2000-02-28'],
] as const)('periods that count from %s, %s: %j', (...[anchor, period, numbers, expected]) => {
  const year = anchor.slice(0, 5)
  const wanted = expected.split(' ').map((date) => (date.length === 5 ? year + date : date))
  expect(dates(anchor, period, numbers)).toEqual(wanted)
})

/** Days of the months by the rule of the calendar, and not by `Date`. */
function lastDay(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] as number
}

describe.each(billingPeriods)('%s', (period) => {
  test('every day of 400 years: the anchor’s day, or the last one of a shorter month, at its time of day', () => {
    const faults: string[] = []
    for (let anchor = Date.UTC(1970, 0, 1, 23, 59, 59, 999); anchor < Date.UTC(2370, 0, 1); anchor += DAY_MS) {
      const from = new Date(anchor)
      for (const number of [0, 1, 2, 3, 11, 49]) {
        const start = new Date(periodStart(anchor, period, number))
        const months = from.getUTCMonth() + number * MONTHS_OF[period]
        const [year, month] = [from.getUTCFullYear() + Math.floor(months / 12), months % 12]
        const day = Math.min(from.getUTCDate(), lastDay(year, month))
        const isRight =
          start.getUTCFullYear() === year &&
          start.getUTCMonth() === month &&
          start.getUTCDate() === day &&
          start.getTime() % DAY_MS === anchor % DAY_MS
        if (!isRight) faults.push(`${from.toISOString()} + ${number}: ${start.toISOString()}`)
      }
    }
    expect(faults).toEqual([])
  })

  test('periods follow each other without a gap, each as long as its months are', () => {
    const anchors = fc.integer({ min: 0, max: Date.UTC(2300, 0) })
    fc.assert(
      fc.property(anchors, fc.integer({ min: 0, max: 600 }), (anchor, number) => {
        const days = (periodStart(anchor, period, number + 1) - periodStart(anchor, period, number)) / DAY_MS
        const [least, most] = period === 'monthly' ? [28, 31] : [365, 366]
        expect(Number.isInteger(days) && days >= least && days <= most).toBe(true)
      }),
    )
  })

  test('a charge at the very end of the period it would pay for begins one from then on', () => {
    const paid = { ...firstPeriod(period, at('2026-01-31')), billing_period: period, lapsed: false }
    const over = periodStart(paid.anchor_at, period, 2)
    expect(renewedPeriod(paid, over)).toEqual(firstPeriod(period, over))
    expect(renewedPeriod(paid, over - 1).anchor_at).toBe(paid.anchor_at)
  })

  test('a charge pays for one whole period: the next one in time, or one from now where that is over', () => {
    const charges = fc.record({
      anchor_at: fc.integer({ min: 0, max: Date.UTC(2100, 0) }),
      period_number: fc.integer({ min: 0, max: 60 }),
      lateMs: fc.integer({ min: 0, max: 800 * DAY_MS }),
      lapsed: fc.boolean(),
    })
    fc.assert(
      fc.property(charges, ({ anchor_at, period_number, lateMs, lapsed }) => {
        const paid = {
          anchor_at,
          period_number,
          current_period_start: periodStart(anchor_at, period, period_number),
          current_period_end: periodStart(anchor_at, period, period_number + 1),
          billing_period: period,
          lapsed,
        }
        const now = paid.current_period_end + lateMs
        const next = renewedPeriod(paid, now)
        const { anchor_at: from, period_number: number } = next
        expect(next.current_period_start).toBe(periodStart(from, period, number))
        expect(next.current_period_end).toBe(periodStart(from, period, number + 1))
        expect(next.current_period_end).toBeGreaterThan(now)
        expect(next.current_period_start).toBeLessThanOrEqual(now)
        const isInTime = !lapsed && now < periodStart(anchor_at, period, period_number + 2)
        if (isInTime) expect([from, number]).toEqual([anchor_at, period_number + 1])
        else expect(next).toEqual(firstPeriod(period, now))
      }),
    )
  })
})
