import { api, type EndpointName } from '../../../src/api/index.ts'
import { CALL_HOURS, type figuresApi } from '../../../src/api/sections/admin-figures.ts'
import { type Usdc, usdc } from '../../../src/core/money.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { workingJobStatuses } from '../../../src/model/job.ts'
import { accountKinds } from '../../../src/model/ledger.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import type { ReadTx } from '../../store/port.ts'
import { type JobRow, jobs } from '../jobs/rows.ts'
import { isLate } from '../jobs/view.ts'
import { accounts, ledger } from '../ledger/rows.ts'
import { payments } from '../payments/rows.ts'
import { soldFigures } from '../sales/payees.ts'
import type { CallSums } from './buckets.ts'
import { callFigures, type EndpointCalls, type Interval, intervalMs, spans } from './calls.ts'
import type { TradeSums } from './flows.ts'
import { moneyFigures, paidFigures } from './money.ts'
import { rollup } from './rollup.ts'

/** Maximum jobs that are read per status, oldest first. */
const MAX_LATE_ROWS = 1_000

export const figuresRoutes: FreeHandlers<typeof figuresApi> = {
  getSeries: async ({ query: { span = 'hour', since } }, { ctx }) => {
    const calls = callFigures.of(ctx)
    const trade = rollup.of(ctx)
    await trade.past()
    const now = ctx.clock.wall()
    const bucket = (at: number, interval: Interval, count: number) => {
      const last = at + (count - 1) * intervalMs[interval]
      const { calls: outcomes, p50, p95 } = calls.within(interval, last, count)
      const { sales, ...money } = trade.within(interval, last, count)
      return { at, calls: outcomes, p50_ms: p50, p95_ms: p95, purchases: sales, ...money }
    }
    const from = { since: calls.since }
    if (since !== undefined) {
      const { interval, at, count } = intervalSince(since, now)
      const bucketMs = count * intervalMs[interval]
      return { span: 'week', bucket_seconds: bucketMs / SECOND_MS, ...from, buckets: [bucket(at, interval, count)] }
    }
    const { bucketMs, count, interval } = spans[span]
    const last = now - (now % bucketMs)
    const starts = Array.from({ length: count }, (_, i) => last - (count - 1 - i) * bucketMs)
    const buckets = starts.map((at) => bucket(at, interval, bucketMs / intervalMs[interval]))
    const hour = (at: number) => ({ ...calls.within('hour', at, 1), ...trade.within('hour', at, 1) })
    const firstSale = await ctx.store.read(firstEntryAt)
    const start = starts[0] ?? now
    const minutes = Math.floor((now - start) / MINUTE_MS) + 1
    const byMinute = (at: number) => trade.within('minute', at, minutes)
    const isExact = span !== 'week' && trade.hasMinutes(start - WEEK_MS)
    const exact = isExact ? { now: byMinute(now), past: byMinute(now - WEEK_MS) } : undefined
    const tradeSince = firstSale - ctx.clock.now() + now
    const week_ago = weekAgo({ hour, from: start, now, tradeSince, exact })
    return { span, bucket_seconds: bucketMs / SECOND_MS, ...from, buckets, week_ago }
  },

  getEndpointFigures: async ({ query }, { ctx }) => {
    const { hours = CALL_HOURS } = query
    const calls = callFigures.of(ctx)
    const paid = paidFigures.of(ctx)
    const called = calls.byEndpoint(hours).filter(({ sums }) => sums.total > 0)
    const endpoints = called
      .toSorted((one, other) => other.sums.total - one.sums.total)
      .map((one) => ({ ...endpointView(one), sold: paid.within(one.endpoint, hours) }))
    return { hours, since: calls.since, endpoints }
  },

  getRiver: async (_input, { ctx, now }) => {
    const { begins, opening, flows, held, books, agrees, checkedAt } = await moneyFigures.of(ctx).day()
    const { byX402, byBalance, sales, atOnce, providers, fees, refunds, sent } = flows
    const waiting = await ctx.store.read(async (t) => ({
      held_jobs: await t.table(jobs).count('held', []),
      in_flight: await t.table(payments).count('open', []),
      disputed: await amountOf(t, 'disputed', () => true),
      overdue: await overdueIn(t),
      books: await Promise.all(
        accountKinds.map(async (kind) => ({
          kind,
          accounts: await t.table(accounts).count('kind', [kind]),
          amount: books[kind],
        })),
      ),
    }))
    const { endedToday } = await soldFigures.of(ctx).week()
    return {
      begins,
      opening,
      paid_in: usdc(byX402 + byBalance),
      by_x402: byX402,
      by_balance: byBalance,
      sales,
      at_once: atOnce,
      providers,
      fees,
      refunds,
      held,
      ...waiting,
      ended: endedToday,
      owed: books.prov,
      sent,
      agrees,
      checked_at: checkedAt,
    }

    async function overdueIn(t: ReadTx): Promise<Usdc> {
      const sums = await Promise.all(workingJobStatuses.map((one) => amountOf(t, one, (job) => isLate(job, now))))
      return usdc(sums.reduce((sum, one) => sum + one, 0n))
    }
  },
}

/** The interval from `since` until now, in whole minutes or, beyond a day, whole hours. */
function intervalSince(since: number, now: number) {
  const interval = now - since <= DAY_MS - MINUTE_MS ? 'minute' : 'hour'
  const ms = intervalMs[interval]
  const first = Math.floor(Math.max(Math.min(since, now), now - WEEK_MS) / ms)
  return { interval, at: first * ms, count: Math.floor(now / ms) - first + 1 } as const
}

async function firstEntryAt(t: ReadTx): Promise<number> {
  const { rows } = await t.table(ledger).page('at', [], { limit: 1 })
  return rows[0]?.at ?? Number.POSITIVE_INFINITY
}

function endpointView({ endpoint, sums, byHour, slowest, broken }: EndpointCalls) {
  const { method, path } = api[endpoint as EndpointName] // only those are counted by name
  const { calls, total, p50, p95 } = sums
  const seen = (one: EndpointCalls['slowest']) =>
    one && { at: one.at, ms: one.ms, status: one.status, request_id: one.requestId }
  return {
    endpoint,
    method,
    path,
    calls,
    total,
    p50_ms: p50,
    p95_ms: p95,
    by_hour: [...byHour],
    slowest: seen(slowest),
    last_broken: seen(broken),
  }
}

/** Money held for jobs that have this status and match `wanted`. Counts only the oldest `MAX_LATE_ROWS` jobs. */
async function amountOf(t: ReadTx, status: string, wanted: (job: JobRow) => boolean): Promise<Usdc> {
  const { rows } = await t.table(jobs).page('status', [status], { limit: MAX_LATE_ROWS, order: 'asc' })
  const held = rows.filter((job) => job.escrow_status === 'held' && wanted(job))
  return usdc(held.reduce((sum, { amount }) => sum + amount, 0n))
}

const WEEK_MS = 7 * DAY_MS

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
