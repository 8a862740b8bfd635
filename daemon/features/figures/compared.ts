import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts'
import type { CallSums } from './buckets.ts'
import type { TradeSums } from './flows.ts'

export const WEEK_MS = 7 * DAY_MS

type Hour = Pick<CallSums, 'total' | 'p95'> & TradeSums

type Span = {
  /** Sums of the hour that contains a time. */
  readonly hour: (at: number) => Hour
  /** Start of the span, which ends at `now`. Wall time, as all times here. */
  readonly from: number
  readonly now: number
  /** Time of the first trade; infinite without one. */
  readonly tradeSince: number
  /** The trade of the span and of the one a week earlier, where it is known by the minute. Hours are estimates. */
  readonly exact: { readonly now: TradeSums; readonly past: TradeSums } | undefined
}

/** The hours of the same span a week earlier, and by how much the span differs from it. */
export function weekAgo({ hour, from, now, tradeSince, exact }: Span) {
  const first = from - (from % HOUR_MS)
  const hours = Array.from({ length: Math.floor((now - first) / HOUR_MS) + 1 }, (_, i) => {
    const at = first + i * HOUR_MS
    const begun = Math.min(HOUR_MS, at + HOUR_MS - from)
    return {
      now: hour(at),
      past: hour(at - WEEK_MS),
      at: at - WEEK_MS,
      // Of the first hour only its end belongs to the span. Of the last hour only its begin is known, so far.
      share: begun / HOUR_MS,
      pastShare: (begun - Math.max(0, at + HOUR_MS - now)) / HOUR_MS,
    }
  })
  const percent = (sum: number, past: number) => (past > 0 ? Math.round((sum / past - 1) * 1_000) / 10 : null)
  const ofHours = (of: (sums: Hour) => number) =>
    percent(
      hours.reduce((all, { now: sums, share }) => all + of(sums) * share, 0),
      hours.reduce((all, { past: sums, pastShare }) => all + of(sums) * pastShare, 0),
    )
  const ofTrade = (of: (trade: TradeSums) => number) => {
    if (tradeSince > from - WEEK_MS) return null
    return exact ? percent(of(exact.now), of(exact.past)) : ofHours(of)
  }
  // Without a call on the day before, counting may have begun in the middle of the span.
  const dayBefore = Array.from({ length: DAY_MS / HOUR_MS }, (_, i) => hour(first - WEEK_MS - (i + 1) * HOUR_MS))
  const hasCalls = dayBefore.some(({ total }) => total > 0)
  const isKnown = hours.some(({ past }) => past.total > 0 || past.sales > 0 || past.paid_in > 0n)
  return {
    buckets: isKnown
      ? hours.map(({ at, past: { total: calls, p95: p95_ms, sales: purchases, paid_in } }) => {
          return { at, calls, p95_ms, purchases, paid_in }
        })
      : [],
    change: {
      calls: hasCalls ? ofHours(({ total }) => total) : null,
      purchases: ofTrade(({ sales }) => sales),
      paid_in: ofTrade(({ paid_in }) => Number(paid_in)),
    },
  }
}
