import { defineCall } from '../../src/cli/command.ts'
import { discoveryOptions, resourceColumns } from '../../src/cli/nouns/discovery.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'

export const command = defineCall({
  name: 'discovery search',
  summary: 'search paid endpoints, as x402 clients do',
  args: z.object({ words: z.array(z.string()).min(1).meta({ description: 'search words' }) }),
  options: z.object({
    ...discoveryOptions,
    cursor: z.string().optional().meta({ description: 'next_cursor of the previous page', value: 'cursor' }),
  }),
  examples: ['souk discovery search qr code', 'souk discovery search translate --limit 3 --json'],
  asks: 'searchResources',
  asked(context) {
    const { limit, ...filters } = context.options
    const query = { query: context.args.words.join(' '), limit: String(limit), ...compact(filters) }
    return { query }
  },
  rows: ({ resources }) => resources,
  columns: resourceColumns,
  view({ resources, pagination }, io) {
    printRows(io, resourceColumns, resources)
    if (resources.length === 0) io.note('nothing is found by these words')
    if (pagination.cursor !== null) io.note(`  next page: ${io.hint(`… --cursor ${pagination.cursor}`)}`)
  },
})
