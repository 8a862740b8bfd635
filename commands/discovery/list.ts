import { defineCall } from '../../src/cli/command.ts'
import { discoveryOptions, resourceColumns } from '../../src/cli/nouns/discovery.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'

export const command = defineCall({
  name: 'discovery list',
  isDefault: true,
  summary: 'list the paid endpoints that x402 clients can discover',
  options: z.object({
    ...discoveryOptions,
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk discovery', 'souk discovery list --limit 5 --json'],
  asks: 'listResources',
  asked(context) {
    const { limit, page, ...filters } = context.options
    const query = { limit: String(limit), offset: String((page - 1) * limit), ...compact(filters) }
    return { query }
  },
  rows: ({ items }) => items,
  columns: resourceColumns,
  view({ items, pagination }, io) {
    printRows(io, resourceColumns, items)
    io.note(`${items.length} of ${pagination.total}`)
  },
})
