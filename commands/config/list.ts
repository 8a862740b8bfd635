import { defineCommand } from '../../src/cli/command.ts'
import { allKept, columns } from '../../src/cli/nouns/config.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'config list',
  summary: 'list what holds unless a flag says otherwise, and where it comes from',
  description: 'A flag wins over the environment, which wins over what is kept here.',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk config list', "souk config list -q '.settings | map(.key)'"],
  async run(context) {
    const settings = allKept(context)
    return { total: settings.length, settings }
  },
  rows: ({ settings }) => settings,
  columns,
  view: ({ settings }, io) => printRows(io, columns, settings),
})
