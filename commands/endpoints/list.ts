import { defineCommand } from '../../src/cli/command.ts'
import { type HealthAnswer, readHealth } from '../../src/cli/nouns/health.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { green, red, yellow } from '../../src/text/text.ts'

type Row = HealthAnswer['endpoints'][number]

const signs: Readonly<Record<string, string>> = {
  live: green('● live'),
  paused: yellow('‖ paused'),
  deferred: red('× deferred'),
}

const columns: readonly Column<Row>[] = [
  { title: 'METHOD', value: ({ method }) => method },
  { title: 'PATH', value: ({ path }) => path },
  { title: 'PRICE', value: ({ price }) => price, align: 'right', drop: 1 },
  { title: 'STATUS', value: ({ status }) => signs[status] ?? status, plain: ({ status }) => status },
  { title: 'PURPOSE', value: ({ description }) => description, flexible: true, drop: 2 },
]

export const command = defineCommand({
  name: 'endpoints list',
  summary: 'list the rows of the interface and their status',
  args: z.object({}),
  options: z.object({
    status: z.enum(['live', 'paused', 'deferred']).optional().meta({ description: 'only rows of this status' }),
  }),
  examples: ['souk endpoints list', 'souk endpoints list --status deferred', 'souk endpoints list --tsv --header'],
  async run(context) {
    const { endpoints } = await readHealth(await context.session())
    const { status } = context.options
    const rows = endpoints.filter((row) => status === undefined || row.status === status)
    return { total: rows.length, endpoints: rows }
  },
  rows: ({ endpoints }) => endpoints,
  columns,
  view({ endpoints, total }, io) {
    printRows(io, columns, endpoints)
    io.note(`${total} endpoints`)
  },
})
