import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import { type HealthAnswer, readHealth } from '../src/cli/nouns/health.ts'
import { operationsOf, readOpenApi } from '../src/cli/nouns/interface/openapi.ts'
import { type Column, printRows, printTsv } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { openSession } from '../src/cli/session.ts'
import { bold, didYouMean, green, red, yellow } from '../src/text/text.ts'

type Row = HealthAnswer['endpoints'][number]
/** An endpoint that differs between two instances. The values of an instance without the endpoint are null. */
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
  status: z.choice(['live', 'paused', 'deferred'], { description: 'only endpoints with this status' }),
  diff: z.text({ description: 'compare with this remote', value: 'remote' }),
})

export const endpointsList = defineCommand({
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

type DifferenceQuery = { readonly there: string; readonly isWanted: (row: Pick<Difference, 'status'>) => boolean }

async function differences(
  context: CommandContext<unknown, unknown>,
  here: readonly Row[],
  { there, isWanted }: DifferenceQuery,
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
  io.note(total === 0 ? `no differences at ${there}` : `${total} endpoints differ at ${there}`)
}

export const endpointsView = defineCommand({
  name: 'endpoints view',
  summary: 'show one API endpoint with its description',
  args: z.object({ path: z.string().meta({ description: 'path, such as /v1/services/:id/purchase' }) }),
  options: z.object({
    method: z.text({ short: 'X', description: 'HTTP method, if the path has several', value: 'method' }),
  }),
  examples: ['souk endpoints view /v1/services/catalog', 'souk endpoints view /v1/services/:id/purchase --json'],
  async run(context) {
    const session = await context.session()
    const { endpoints } = await readHealth(session)
    const wanted = context.args.path.replace(/\{(\w+)\}/g, ':$1')
    const rows = endpoints.filter(
      ({ path, method }) => path === wanted && [method, undefined].includes(context.options.method?.toUpperCase()),
    )
    if (rows.length === 0) throw unknown(wanted, endpoints)
    const operations = operationsOf(await readOpenApi(session))
    return { endpoints: rows.map((row) => ({ ...row, operation: operations.get(nameOf(row)) ?? null })) }
  },
  view({ endpoints }, io) {
    for (const { method, path, price, status, description, operation } of endpoints) {
      io.line(`${bold(`${method} ${path}`)}   ${price}   ${status}`)
      io.line(`  ${description}`)
      if (operation !== null) io.line(JSON.stringify(operation, null, 2))
    }
  },
})

function nameOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replace(/:([A-Za-z]+)/g, '{$1}')}`
}

function unknown(path: string, endpoints: readonly { path: string }[]): CliError {
  const paths = [...new Set(endpoints.map((row) => row.path))]
  return new CliError('not_found', `There is no endpoint ${path}${didYouMean(path, paths)}.`, {
    next: ['souk endpoints list'],
  })
}
