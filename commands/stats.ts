import type { WireAnswer } from '../src/api/index.ts'
import { CALL_HOURS } from '../src/api/sections/admin-figures.ts'
import { defineCall, defineCommand } from '../src/cli/command.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { Duration } from '../src/cli/params.ts'
import { seriesSpans } from '../src/model/words.ts'
import { green, percentChange } from '../src/text/text.ts'
import { weekAgoWords } from '../src/text/time.ts'

const columns: readonly Column<WireAnswer<'getEndpointFigures'>['endpoints'][number]>[] = [
  { title: 'METHOD', value: ({ method }) => method },
  { title: 'PATH', value: ({ path }) => path, flexible: true },
  { title: 'CALLS', value: ({ total }) => total, align: 'right' },
  { title: '402', value: ({ calls }) => calls.asked_to_pay, align: 'right' },
  { title: '4XX', value: ({ calls }) => calls.refused + calls.switched_off, align: 'right' },
  { title: '5XX', value: ({ calls }) => calls.broken, align: 'right' },
  { title: 'P50 MS', value: ({ p50_ms }) => p50_ms, align: 'right', drop: 1 },
  { title: 'P95 MS', value: ({ p95_ms }) => p95_ms, align: 'right' },
  { title: 'LAST BROKEN', value: ({ last_broken }) => last_broken?.request_id, drop: 2 },
]

export const statsCalls = defineCall({
  name: 'stats calls',
  summary: 'show calls, errors and latency of each endpoint',
  description: 'The counts begin when the daemon starts. Needs the admin key of the instance.',
  options: z.object({
    hours: z.between(1, CALL_HOURS).default(CALL_HOURS).meta({ description: 'time span, back from now' }),
  }),
  examples: ['souk stats calls', 'souk stats calls --hours 1 --tsv --header'],
  asks: 'getEndpointFigures',
  asked: ({ options }) => ({ query: { hours: String(options.hours) } }),
  rows: ({ endpoints }) => endpoints,
  columns,
  view({ endpoints, since }, io) {
    printRows(io, columns, endpoints)
    io.note(`${endpoints.length} endpoints were called since ${since}`)
  },
})

/** Copied from the API contract, which is slow to load; a test compares both. */
const kinds = ['subject_view', 'expand_io', 'verify_signature'] as const

export const statsEvent = defineCommand({
  name: 'stats event',
  summary: 'record one explorer page view',
  args: z.object({ kind: z.enum(kinds).meta({ description: kinds.join(', ') }) }),
  options: z.object({ dnt: z.flag({ description: 'send Do Not Track: nothing is recorded' }) }),
  examples: ['souk stats event subject_view', 'souk stats event expand_io --dnt --json'],
  async run({ args: { kind }, options: { dnt }, session }) {
    await (await session()).open('recordEvent', { body: { event: kind }, headers: dnt ? { DNT: '1' } : {} })
    return { event: kind, recorded: !dnt }
  },
  view: ({ event, recorded }, io) =>
    io.line(recorded ? `${green('✓')} ${event} counted` : `${event} was sent and not recorded`),
})

type Bucket = WireAnswer<'getSeries'>['buckets'][number]

const seriesColumns: readonly Column<Bucket>[] = [
  { title: 'FROM', value: ({ at }) => at },
  { title: 'ANSWERED', value: ({ calls }) => calls.answered, align: 'right' },
  { title: '402', value: ({ calls }) => calls.asked_to_pay, align: 'right' },
  { title: '4XX', value: ({ calls }) => calls.refused + calls.switched_off, align: 'right' },
  { title: '5XX', value: ({ calls }) => calls.broken, align: 'right' },
  { title: 'P50 MS', value: ({ p50_ms }) => p50_ms, align: 'right', drop: 1 },
  { title: 'P95 MS', value: ({ p95_ms }) => p95_ms, align: 'right' },
  { title: 'SALES', value: ({ purchases }) => purchases, align: 'right' },
  { title: 'PAID IN', value: ({ paid_in }) => `$${paid_in}`, align: 'right' },
]

export const statsSeries = defineCommand({
  name: 'stats series',
  summary: 'show calls, latency, sales and money over time',
  description:
    'Resolution: 1 minute for an hour, 15 minutes for a day, 1 hour for a week. The span is compared with ' +
    'the same span a week before, if that is known. Calls before the daemon start are known by the hour only. ' +
    'Needs the admin key of the instance.',
  options: z.object({
    span: z.enum(seriesSpans).default('hour').meta({ description: 'time span, back from now' }),
    since: Duration.optional().meta({ description: 'one interval, which begins this long ago (at most a week)' }),
    all: z.flag({ description: 'include intervals without activity' }),
  }),
  examples: ['souk stats series', 'souk stats series --span week --all', 'souk stats series --since 90m --json'],
  prints: 'getSeries',
  async run(context) {
    const { span, since, all } = context.options
    const query = since === undefined ? { span } : { since: new Date(context.io.now() - since).toISOString() }
    const series = await (await context.session()).call('getSeries', { query })
    return all ? series : { ...series, buckets: series.buckets.filter(isBusy) }
  },
  rows: ({ buckets }) => buckets,
  columns: seriesColumns,
  view({ buckets, since, span, week_ago: past }, io) {
    if (buckets.length > 0) printRows(io, seriesColumns, buckets)
    const changes = Object.entries({
      calls: past?.change.calls,
      sales: past?.change.purchases,
      'paid in': past?.change.paid_in,
    })
    const known = changes.flatMap(([name, percent]) =>
      typeof percent === 'number' ? `${name} ${percentChange(percent)}` : [],
    )
    if (known.length > 0)
      io.note(`${known.join(', ')} on ${weekAgoWords(span, Date.parse(past?.buckets.at(-1)?.at ?? ''))}`)
    io.note(`${buckets.length === 0 ? 'no activity yet; ' : ''}calls are counted since ${since}`)
  },
})

function isBusy({ calls, purchases }: Bucket): boolean {
  return purchases > 0 || Object.values(calls).some((count) => count > 0)
}

const watchingColumns: readonly Column<WireAnswer<'getWatching'>['days'][number]>[] = [
  { title: 'DAY', value: ({ date }) => date },
  { title: 'TRUST QUERIES', value: (day) => day.trust_queries, align: 'right' },
  { title: 'EXPLORER', value: (day) => day.explorer_interactions, align: 'right' },
  { title: 'CALLERS', value: (day) => day.distinct_callers, align: 'right' },
]

export const statsWatching = defineCall({
  name: 'stats watching',
  summary: 'show daily lookups of participants',
  description: 'Taken from a nightly snapshot (02:00 UTC). Before the first one, exits with code 7.',
  examples: ['souk stats watching', "souk stats watching -q '.days | first | .trust_queries'"],
  asks: 'getWatching',
  rows: ({ days }) => days,
  columns: watchingColumns,
  view({ as_of, days }, io) {
    printRows(io, watchingColumns, days)
    io.note(days.length === 0 ? `no complete day yet, as of ${as_of}` : `as of ${as_of}`)
  },
})
