import type { BillingPeriod } from '../../../src/model/service.ts'

const MONTHS_OF: Readonly<Record<BillingPeriod, number>> = { monthly: 1, annual: 12 }
const MONTHS_A_YEAR = 12

/**
 * Start of period `number`, counted from `anchor`, in epoch milliseconds: the anchor's day of the month (UTC) at its
 * time of day, or the last day of a shorter month (decisions §9). A shorter month does not move later periods: 31
 * January → 28 February → 31 March.
 */
export function periodStart(anchor: number, period: BillingPeriod, number: number): number {
  const from = new Date(anchor)
  const months = from.getUTCFullYear() * MONTHS_A_YEAR + from.getUTCMonth() + number * MONTHS_OF[period]
  const year = Math.floor(months / MONTHS_A_YEAR)
  const month = months - year * MONTHS_A_YEAR
  const day = Math.min(from.getUTCDate(), daysOf(year, month))
  // Not `Date.UTC`, which maps the years 0 to 99 to 1900 to 1999.
  return new Date(anchor).setUTCFullYear(year, month, day)
}

function daysOf(year: number, month: number): number {
  const last = new Date(0)
  last.setUTCFullYear(year, month + 1, 0)
  return last.getUTCDate()
}

/** A paid period, and the anchor from which periods are counted. */
export type Period = ReturnType<typeof firstPeriod>

/** The first period, which starts at `at`; all later periods are counted from `at`. */
export function firstPeriod(period: BillingPeriod, at: number) {
  return { anchor_at: at, period_number: 0, current_period_start: at, current_period_end: periodStart(at, period, 1) }
}

type Paid = Period & { readonly billing_period: BillingPeriod; readonly lapsed: boolean }

/**
 * The period that a charge at `at` pays. It follows the last period, counted from the same anchor. If that period would
 * be over at `at`, or the subscription lapsed, a period that starts at `at` is paid. Unpaid past periods are never
 * charged (decisions §9).
 */
export function renewedPeriod(paid: Paid, at: number): Period {
  const { anchor_at, billing_period, current_period_end, lapsed } = paid
  const period_number = paid.period_number + 1
  const end = periodStart(anchor_at, billing_period, period_number + 1)
  if (lapsed || at >= end) return firstPeriod(billing_period, at)
  return { anchor_at, period_number, current_period_start: current_period_end, current_period_end: end }
}
