import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'crons pause',
  summary: 'pause a scheduled job',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  options: z.object({}),
  examples: ['souk crons pause auto-refund', 'souk crons pause auto-refund --json'],
  run: async (context) => (await context.session()).call('pauseCron', { params: { name: context.args.cron } }),
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} is paused`),
})
