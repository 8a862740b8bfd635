import { defineCommand } from '../../src/cli/command.ts'
import { allKept, columns } from '../../src/cli/nouns/config.ts'
import { printRows } from '../../src/cli/output.ts'

export const command = defineCommand({
  name: 'config list',
  summary: 'list default settings and where each comes from',
  description: 'Order of precedence: flag, environment variable, saved setting.',
  examples: ['souk config list', "souk config list -q '.settings | map(.key)'"],
  async run(context) {
    const settings = allKept(context)
    return { total: settings.length, settings }
  },
  rows: ({ settings }) => settings,
  columns,
  view: ({ settings }, io) => printRows(io, columns, settings),
})
