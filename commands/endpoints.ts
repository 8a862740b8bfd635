import { defineCommand } from '../src/cli/command.ts'
import { CliError } from '../src/cli/exit.ts'
import { type HealthAnswer, readHealth } from '../src/cli/nouns/health.ts'
import { operationsOf, readOpenApi } from '../src/cli/nouns/interface/openapi.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { bold, didYouMean, green, red, yellow } from '../src/text/text.ts'

const signs: Readonly<Record<string, string>> = {
  live: green('● live'),
  paused: yellow('‖ paused'),
  deferred: red('× deferred'),
}

const columns: readonly Column<HealthAnswer['endpoints'][number]>[] = [
  { title: 'METHOD', value: ({ method }) => method },
  { title: 'PATH', value: ({ path }) => path },
  { title: 'PRICE', value: ({ price }) => price, align: 'right', drop: 1 },
  { title: 'STATUS', value: ({ status }) => signs[status] ?? status, plain: ({ status }) => status },
  { title: 'PURPOSE', value: ({ description }) => description, flexible: true, drop: 2 },
]

export const endpointsList = defineCommand({
  name: 'endpoints list',
  summary: 'list API endpoints and their status',
  options: z.object({
    status: z.choice(['live', 'paused', 'deferred'], { description: 'only endpoints with this status' }),
  }),
  examples: ['souk endpoints list', 'souk endpoints list --status deferred', 'souk endpoints list --tsv --header'],
  async run(context) {
    const { status } = context.options
    const { endpoints } = await readHealth(await context.session())
    const rows = endpoints.filter((row) => status === undefined || row.status === status)
    return { total: rows.length, endpoints: rows }
  },
  rows: ({ endpoints }) => endpoints,
  columns,
  view({ total, endpoints }, io) {
    printRows(io, columns, endpoints)
    io.note(`${total} endpoints`)
  },
})

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
