import { z } from 'zod'
import { Amount, namedObject, Time } from '../../core/codecs.ts'
import { accountKinds } from '../../model/ledger.ts'
import { seriesSpans } from '../../model/words.ts'
import { queryInt } from '../endpoint/common.ts'
import { adminEndpoint, json } from '../endpoint/define.ts'

/** How long calls of an endpoint are remembered, in hours. */
export const CALL_HOURS = 24

/** Outcomes of calls: answered, 402, refused (4xx), switched off by the operator, failed (5xx). */
export const callOutcomes = ['answered', 'asked_to_pay', 'refused', 'switched_off', 'broken'] as const
export type CallOutcome = (typeof callOutcomes)[number]

const Calls = z.strictObject({
  answered: z.int(),
  asked_to_pay: z.int().meta({ description: '402 (not an error)' }),
  refused: z.int().meta({ description: 'any other 4xx' }),
  switched_off: z.int().meta({ description: '410, and 503 `paused`' }),
  broken: z.int().meta({ description: 'any other 5xx' }),
})

const latency = {
  p50_ms: z.number().nullable().meta({ description: 'median; null without calls' }),
  p95_ms: z.number().nullable(),
}

const Bucket = namedObject('SeriesBucket', {
  at: Time.meta({ description: 'start of the interval, wall time' }),
  calls: Calls,
  ...latency,
  purchases: z.int(),
  paid_in: Amount,
  providers: Amount,
  fees: Amount,
  refunds: Amount,
})

const Change = z.number().nullable().meta({ description: 'in percent; null without a complete earlier span' })

const WeekAgo = namedObject('SeriesWeekAgo', {
  buckets: z
    .array(z.strictObject({ at: Time, calls: z.int(), p95_ms: latency.p95_ms, purchases: z.int(), paid_in: Amount }))
    .meta({ description: 'whole hours, oldest first; empty if nothing is known of them' }),
  change: z
    .strictObject({ calls: Change, purchases: Change, paid_in: Change })
    .meta({ description: 'how the span differs from the same span a week earlier, by their hours' }),
})

const Seen = z.strictObject({ at: Time, ms: z.int(), status: z.int(), request_id: z.string() })

const EndpointFigures = namedObject('EndpointFigures', {
  endpoint: z.string(),
  method: z.string(),
  path: z.string(),
  calls: Calls,
  total: z.int(),
  ...latency,
  by_hour: z.array(z.int()).meta({ description: 'calls per hour, oldest first; the current hour is last' }),
  slowest: Seen.nullable(),
  last_broken: Seen.nullable(),
  sold: z
    .strictObject({ times: z.int(), amount: Amount })
    .meta({ description: 'number and amount of calls that were paid and served' }),
})

/** Cash flow of a day. */
export const River = namedObject('River', {
  begins: Time.meta({ description: 'midnight UTC of business time' }),
  opening: Amount.meta({ description: 'held in escrow at midnight' }),
  paid_in: Amount,
  by_x402: Amount,
  by_balance: Amount,
  sales: z.int().meta({ description: 'number of purchases' }),
  at_once: Amount.meta({ description: 'amount that was paid in but never held in escrow' }),
  providers: Amount.meta({ description: 'earnings credited to providers on this day' }),
  fees: Amount.meta({ description: 'platform fees, including the referrers’ shares' }),
  refunds: Amount,
  held: Amount.meta({ description: 'currently in escrow, by the running totals' }),
  disputed: Amount,
  overdue: Amount.meta({ description: 'held for overdue jobs; counts only the jobs that were searched' }),
  held_jobs: z.int(),
  in_flight: z.int().meta({ description: 'number of payments in progress' }),
  ended: z
    .strictObject({
      good: z.int(),
      failed: z.int().meta({ description: 'number of jobs that failed, expired or were cancelled' }),
      refunded: z.int().meta({ description: 'number of jobs refunded by a ruling or by the operator' }),
    })
    .meta({ description: 'jobs that ended today' }),
  owed: Amount.meta({ description: 'amount owed to providers and not sent yet' }),
  sent: Amount.meta({ description: 'amount that reached wallets today' }),
  books: z
    .array(
      z.strictObject({
        kind: z.enum(accountKinds),
        accounts: z.int().meta({ description: 'number of accounts of this kind' }),
        amount: Amount,
      }),
    )
    .meta({ description: 'all balances by kind of account; including `ext` (deposits from the chain) they sum to 0' }),
  agrees: z.boolean().meta({ description: 'whether the running totals match the accounts' }),
  checked_at: Time.nullable().meta({ description: 'time of the last comparison, wall time; null before the first' }),
})

export const figuresApi = {
  getSeries: adminEndpoint({
    path: '/dashboard/api/admin/series',
    query: z.strictObject({
      span: z.enum(seriesSpans).optional().meta({
        description: 'an hour in steps of a minute, a day in steps of 15 minutes, or a week in steps of an hour',
      }),
      since: Time.optional().meta({
        description:
          'one interval from this time, wall time, in place of `span`; starts at a whole minute, or at a whole hour ' +
          'if more than a day ago; at most a week ago',
      }),
    }),
    reply: json({
      span: z.enum(seriesSpans),
      bucket_seconds: z.int(),
      since: Time.meta({ description: 'the daemon start; calls before it are known by the hour only' }),
      buckets: z.array(Bucket).meta({ description: 'oldest first; the current interval is last' }),
      week_ago: WeekAgo.optional().meta({ description: 'missing with `since`' }),
    }),
    summary: 'time series: calls, purchases, latency, money',
  }),

  getEndpointFigures: adminEndpoint({
    path: '/dashboard/api/admin/endpoints',
    query: z.strictObject({
      hours: queryInt({ min: 1, max: CALL_HOURS })
        .optional()
        .meta({ description: `hours back, including the current one (default: ${CALL_HOURS})` }),
    }),
    reply: json({
      hours: z.int(),
      since: Time.meta({ description: 'start of counting (the daemon start)' }),
      endpoints: z.array(EndpointFigures).meta({ description: 'called endpoints, most calls first' }),
    }),
    summary: 'calls, errors and latency by endpoint',
  }),

  getRiver: adminEndpoint({
    path: '/dashboard/api/admin/river',
    reply: json(River),
    summary: 'money of a business day: paid in, held, paid out',
  }),
}
