import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { seriesSpans } from '../../src/api/sections/admin-figures.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

type Bucket = WireAnswer<Api['getSeries']>['buckets'][number]

const columns: readonly Column<Bucket>[] = [
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

export const command = defineCommand({
  name: 'stats series',
  summary: 'show calls, latency, sales and money over time',
  description:
    'Resolution: 1 minute for an hour, 15 minutes for a day, 1 hour for a week. Counts since the ' +
    'daemon started. Needs the admin key of the instance.',
  options: z.object({
    span: z.enum(seriesSpans).default('hour').meta({ description: 'time span, back from now' }),
    all: z.boolean().default(false).meta({ description: 'include intervals without activity' }),
  }),
  examples: ['souk stats series', 'souk stats series --span week --all', 'souk stats series --json'],
  prints: 'getSeries',
  async run(context) {
    const { span, all } = context.options
    const series = await (await context.session()).call('getSeries', { query: { span } })
    return all ? series : { ...series, buckets: series.buckets.filter(isBusy) }
  },
  rows: ({ buckets }) => buckets,
  columns,
  view({ buckets, since }, io) {
    if (buckets.length > 0) printRows(io, columns, buckets)
    io.note(`${buckets.length === 0 ? 'nothing happened yet, ' : ''}counted since ${since}`)
  },
})

function isBusy({ calls, purchases }: Bucket): boolean {
  return purchases > 0 || Object.values(calls).some((count) => count > 0)
}
