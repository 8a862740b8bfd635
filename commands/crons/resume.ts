import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'crons resume',
  summary: 'resume a scheduled job',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  examples: ['souk crons resume auto-refund', 'souk crons resume auto-refund --json'],
  asks: 'resumeCron',
  asked: ({ args }) => ({ params: { name: args.cron } }),
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} runs again`),
})
