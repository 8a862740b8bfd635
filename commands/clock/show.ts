import { defineCommand } from '../../src/cli/command.ts'
import { showClock } from '../../src/cli/nouns/clock.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'clock show',
  summary: 'show business time and real time',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk clock show', 'souk clock show --json'],
  run: async (context) => (await context.session()).call('getClock', {}),
  view: showClock,
})
