import { serviceFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { listNote, searchOptions } from '../../../src/cli/nouns/searching.ts'
import { printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { watchOptions } from '../../../src/cli/run/watched.ts'
import { compact } from '../../../src/core/record.ts'
import { columns } from '../../services/list.ts'

const PAGE_ROWS_MAX = 100

export const command = defineCommand({
  name: 'admin services list',
  summary: 'list the listings of everybody, narrowed and sorted by any of their fields',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: z
      .enum(['active', 'inactive'])
      .optional()
      .meta({ description: 'whether they are offered; active unless told', value: 'state' }),
    ...searchOptions(serviceFields),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows of a page' }),
    page: z.int().min(1).default(1).meta({ description: 'which page' }),
    ...watchOptions,
  }),
  examples: [
    'souk admin services list',
    'souk admin services list --filter "hook:failing !souk"',
    'souk admin services list --sort -reputation --json',
  ],
  async run(context) {
    const { limit, page, status, filter, sort } = context.options
    return (await context.session()).call('listAllServices', {
      query: { limit: String(limit), offset: String((page - 1) * limit), ...compact({ status, filter, sort }) },
    })
  },
  rows: ({ services }) => services,
  columns,
  view(page, io) {
    printRows(io, columns, page.services)
    io.note(listNote(page, page.services.length, 'no such listing'))
  },
})
