import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import type { Io } from '../../src/cli/io.ts'
import { type HealthAnswer, readHealth } from '../../src/cli/nouns/health.ts'
import { type Column, printRows, printTsv } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { openSession } from '../../src/cli/session.ts'
import { green, red, yellow } from '../../src/text/text.ts'

type Row = HealthAnswer['endpoints'][number]
/** What one instance says otherwise than another; null where it has no such row. */
type Difference = {
  readonly method: string
  readonly path: string
  readonly status: string | null
  readonly price: string | null
  readonly status_there: string | null
  readonly price_there: string | null
}

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

const options = z.object({
  status: z.enum(['live', 'paused', 'deferred']).optional().meta({ description: 'only endpoints with this status' }),
  diff: z.string().optional().meta({ description: 'compare with this remote', value: 'remote' }),
})

export const command = defineCommand({
  name: 'endpoints list',
  summary: 'list API endpoints and their status',
  options,
  examples: [
    'souk endpoints list',
    'souk endpoints list --status deferred',
    'souk endpoints list --diff local',
    'souk endpoints list --tsv --header',
  ],
  async run(context) {
    const { status, diff } = context.options
    const { endpoints } = await readHealth(await context.session())
    const isWanted = (row: { readonly status: string | null }) => status === undefined || row.status === status
    if (diff !== undefined) return differences(context, endpoints, { there: diff, isWanted })
    const rows = endpoints.filter(isWanted)
    return { total: rows.length, endpoints: rows }
  },
  rows: (data) => ('differences' in data ? undefined : data.endpoints),
  columns,
  view(data, io) {
    if ('differences' in data) return showDifferences(data, io)
    printRows(io, columns, data.endpoints)
    io.note(`${data.total} endpoints`)
  },
})

type Wanted = { readonly there: string; readonly isWanted: (row: Pick<Difference, 'status'>) => boolean }

async function differences(
  context: CommandContext<unknown, unknown>,
  here: readonly Row[],
  { there, isWanted }: Wanted,
) {
  const { baseUrl: _instead, ...globals } = context.globals
  const other = await openSession({ ...context, globals: { ...globals, remote: there } })
  const { endpoints } = await readHealth(other)
  const rows = new Map<string, Difference>()
  for (const { method, path, status, price } of here) {
    rows.set(`${method} ${path}`, { method, path, status, price, status_there: null, price_there: null })
  }
  for (const { method, path, status, price } of endpoints) {
    const known = rows.get(`${method} ${path}`) ?? { method, path, status: null, price: null }
    rows.set(`${method} ${path}`, { ...known, status_there: status, price_there: price })
  }
  const found = [...rows.values()].filter(
    (row) => isWanted(row) && (row.status !== row.status_there || row.price !== row.price_there),
  )
  return { total: found.length, there: other.target.name, differences: found }
}

function showDifferences({ differences: rows, total, there }: Awaited<ReturnType<typeof differences>>, io: Io): void {
  const other: readonly Column<Difference>[] = [
    { title: 'METHOD', value: ({ method }) => method },
    { title: 'PATH', value: ({ path }) => path },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'PRICE', value: ({ price }) => price, align: 'right' },
    { title: there.toUpperCase(), value: (row) => row.status_there },
    { title: 'ITS PRICE', value: (row) => row.price_there, align: 'right' },
  ]
  if (io.isTty) printRows(io, other, rows)
  else printTsv(io, other, { rows, header: false })
  io.note(total === 0 ? `nothing is otherwise at ${there}` : `${total} endpoints are otherwise at ${there}`)
}
