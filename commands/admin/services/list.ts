import { serviceFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { listNote, offeredStatus, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { columns } from '../../services/list.ts'

export const command = defineCommand({
  name: 'admin services list',
  summary: 'list all listings; filter and sort by any field',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: offeredStatus,
    ...searchedPageOptions(serviceFields),
  }),
  examples: [
    'souk admin services list',
    'souk admin services list --filter "hook:failing !souk"',
    'souk admin services list --sort -reputation --json',
  ],
  async run(context) {
    const { status } = context.options
    return (await context.session()).call('listAllServices', {
      query: { ...searchedPage(context.options), ...compact({ status }) },
    })
  },
  rows: ({ services }) => services,
  columns,
  view(page, io) {
    printRows(io, columns, page.services)
    io.note(listNote(page, page.services.length, 'no such listing'))
  },
})
