import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { columns } from '../../src/cli/nouns/crons.ts'
import { printRows } from '../../src/cli/output.ts'

export const command = defineCommand({
  name: 'crons list',
  summary: 'list the scheduled jobs and how they are',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk crons list', 'souk crons list --json'],
  run: async (context) => (await context.session()).call('listCrons', {}),
  rows: ({ crons }) => crons,
  columns,
  view({ crons, automatic }, io) {
    printRows(io, columns, crons)
    if (!automatic) io.note('this daemon runs none by itself (--crons off)')
  },
})
