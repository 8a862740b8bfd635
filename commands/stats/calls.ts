import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { CALL_HOURS } from '../../src/api/sections/admin-figures.ts'
import { defineCall } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

type Row = WireAnswer<Api['getEndpointFigures']>['endpoints'][number]

const columns: readonly Column<Row>[] = [
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

export const command = defineCall({
  name: 'stats calls',
  summary: 'show calls, errors and latency of each endpoint',
  description: 'Counts since the daemon started. Needs the admin key of the instance.',
  options: z.object({
    hours: z.int().min(1).max(CALL_HOURS).default(CALL_HOURS).meta({ description: 'time span, back from now' }),
  }),
  examples: ['souk stats calls', 'souk stats calls --hours 1 --tsv --header'],
  asks: 'getEndpointFigures',
  asked: ({ options }) => ({ query: { hours: String(options.hours) } }),
  rows: ({ endpoints }) => endpoints,
  columns,
  view({ endpoints, since }, io) {
    printRows(io, columns, endpoints)
    io.note(`${endpoints.length} endpoints were called, counted since ${since}`)
  },
})
