import { z } from 'zod'
import { Amount } from '../../core/codecs.ts'
import { accountKinds } from '../../model/ledger.ts'
import { queryInt, Time } from '../endpoint/common.ts'
import { admin, defineEndpoint, json } from '../endpoint/define.ts'

const ours = { access: admin, origin: 'ours', section: 'Administration' } as const

/** How far series go back. */
export const seriesSpans = ['hour', 'day', 'week'] as const
export type SeriesSpan = (typeof seriesSpans)[number]
/** Hours that calls of an endpoint are remembered for. */
export const CALL_HOURS = 24

/** Outcomes of calls: answered, 402, refused (4xx), switched off by the operator, failed (5xx). */
export const callOutcomes = ['answered', 'asked_to_pay', 'refused', 'switched_off', 'broken'] as const
export type CallOutcome = (typeof callOutcomes)[number]

const Calls = z.strictObject({
  answered: z.int(),
  asked_to_pay: z.int().meta({ description: '402, which is no error' }),
  refused: z.int().meta({ description: 'any other 4xx' }),
  switched_off: z.int().meta({ description: '410, and 503 `paused`' }),
  broken: z.int().meta({ description: 'any other 5xx' }),
})

const latency = {
  p50_ms: z.number().nullable().meta({ description: 'half took no longer; null without calls' }),
  p95_ms: z.number().nullable(),
}

const Bucket = z
  .strictObject({
    at: Time.meta({ description: 'where it begins, wall time' }),
    calls: Calls,
    ...latency,
    purchases: z.int(),
    paid_in: Amount,
    providers: Amount,
    fees: Amount,
    refunds: Amount,
  })
  .meta({ id: 'SeriesBucket' })

const Seen = z.strictObject({ at: Time, ms: z.int(), status: z.int(), request_id: z.string() })

const EndpointFigures = z
  .strictObject({
    endpoint: z.string(),
    method: z.string(),
    path: z.string(),
    calls: Calls,
    total: z.int(),
    ...latency,
    by_hour: z.array(z.int()).meta({ description: 'calls of each hour, oldest first, the running one last' }),
    slowest: Seen.nullable(),
    last_broken: Seen.nullable(),
    sold: z
      .strictObject({ times: z.int(), amount: Amount })
      .optional()
      .meta({ description: 'calls that were paid for and served, and what was paid; older instances do not tell it' }),
  })
  .meta({ id: 'EndpointFigures' })

/** Cash flow of a day. */
export const River = z
  .strictObject({
    begins: Time.meta({ description: 'midnight UTC of business time' }),
    opening: Amount.meta({ description: 'held in escrow at that time' }),
    paid_in: Amount,
    by_x402: Amount,
    by_balance: Amount,
    sales: z.int().meta({ description: 'things that were bought' }),
    at_once: Amount.meta({ description: 'the part of paid-in money that was never in escrow' }),
    providers: Amount.meta({ description: 'what was earned by them' }),
    fees: Amount.meta({ description: 'what the marketplace kept, shares of referrers in it' }),
    refunds: Amount,
    held: Amount.meta({ description: 'in escrow now, by the running sums' }),
    disputed: Amount,
    overdue: Amount.meta({ description: 'held for overdue jobs, as far as was looked' }),
    held_jobs: z.int(),
    in_flight: z
      .int()
      .optional()
      .meta({ description: 'payments that are reserved and have not ended; older instances do not tell it' }),
    ended: z
      .strictObject({
        good: z.int(),
        failed: z.int().meta({ description: 'or expired, or cancelled' }),
        refunded: z.int().meta({ description: 'by a ruling, or by the operator' }),
      })
      .optional()
      .meta({ description: 'jobs that ended today; older instances do not tell it' }),
    owed: Amount.meta({ description: 'to providers, not yet sent' }),
    sent: Amount.meta({ description: 'that reached wallets today' }),
    books: z
      .array(
        z.strictObject({
          kind: z.enum(accountKinds),
          accounts: z.int().meta({ description: 'accounts of the kind' }),
          amount: Amount,
        }),
      )
      .meta({
        description: 'all money there is, by kind of account; with `ext`, what came in from the chain, it is 0',
      }),
    agrees: z.boolean().meta({ description: 'whether running sums match the accounts' }),
    checked_at: Time.nullable().meta({ description: 'when they were compared, wall time; null before the first time' }),
  })
  .meta({ id: 'River' })

export const figuresApi = {
  getSeries: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/series',
    ...ours,
    query: z.strictObject({
      span: z
        .enum(seriesSpans)
        .optional()
        .meta({ description: 'hour by the minute, day by the quarter, week by the hour' }),
    }),
    reply: json(
      z.strictObject({
        span: z.enum(seriesSpans),
        bucket_seconds: z.int(),
        since: Time.meta({ description: 'when counting began: with the daemon' }),
        buckets: z.array(Bucket).meta({ description: 'oldest first; the running one last' }),
      }),
    ),
    errors: ['invalid_request'],
    summary: 'time series: calls, purchases, latency, money',
  }),

  getEndpointFigures: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/endpoints',
    ...ours,
    query: z.strictObject({
      hours: queryInt({ min: 1, max: CALL_HOURS })
        .optional()
        .meta({ description: `hours back, including the current one (default: ${CALL_HOURS})` }),
    }),
    reply: json(
      z.strictObject({
        hours: z.int(),
        since: Time.meta({ description: 'when counting began: with the daemon' }),
        endpoints: z.array(EndpointFigures).meta({ description: 'those that were called, most first' }),
      }),
    ),
    errors: ['invalid_request'],
    summary: 'calls, errors and latency by row',
  }),

  getRiver: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/river',
    ...ours,
    reply: json(River),
    errors: [],
    summary: 'money of a business day: paid in, held, passed on',
  }),
}
