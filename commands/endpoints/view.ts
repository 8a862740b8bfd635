import { defineCommand } from '../../src/cli/command.ts'
import { CliError } from '../../src/cli/exit.ts'
import { readHealth } from '../../src/cli/nouns/health.ts'
import { operationsOf, readOpenApi } from '../../src/cli/nouns/interface/openapi.ts'
import * as z from '../../src/cli/params.ts'
import { bold, nearest } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'endpoints view',
  summary: 'show one API endpoint with its description',
  args: z.object({
    path: z.string().meta({ description: 'path, such as /v1/services/:id/purchase' }),
  }),
  options: z.object({
    method: z
      .string()
      .optional()
      .meta({ short: 'X', description: 'HTTP method, if the path has several', value: 'method' }),
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
  const near = nearest(path, [...new Set(endpoints.map((row) => row.path))])
  return new CliError('not_found', `The interface has no row ${path}${near ? ` (did you mean ${near}?)` : ''}.`, {
    next: ['souk endpoints list'],
  })
}
