import { defineCommand } from '../../src/cli/command.ts'
import { oneKept } from '../../src/cli/nouns/config.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'config get',
  summary: 'show one setting',
  args: z.object({ key: z.string().meta({ description: 'name of the setting, from `souk config list`' }) }),
  examples: ['souk config get max-price', 'souk config get pay --json'],
  run: async (context) => oneKept(context, context.args.key),
  view: ({ value }, io) => io.line(value ?? ''),
})
