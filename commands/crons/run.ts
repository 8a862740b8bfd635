import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'crons run',
  summary: 'run a scheduled job now',
  args: z.object({ cron: z.string().meta({ description: 'its name' }) }),
  options: z.object({}),
  examples: ['souk crons run auto-refund', 'souk crons run auto-refund --json'],
  run: async (context) => (await context.session()).call('runCron', { params: { name: context.args.cron } }),
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} ran`),
})
