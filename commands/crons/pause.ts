import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'crons pause',
  summary: 'pause a scheduled job',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  examples: ['souk crons pause auto-refund', 'souk crons pause auto-refund --json'],
  asks: 'pauseCron',
  asked: ({ args }) => ({ params: { name: args.cron } }),
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} is paused`),
})
