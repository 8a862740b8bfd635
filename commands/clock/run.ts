import { defineCommand } from '../../src/cli/command.ts'
import { moveClock, showClock } from '../../src/cli/nouns/clock.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'clock run',
  summary: 'resume business time',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk clock run', 'souk clock run --json'],
  run: async (context) => moveClock(await context.session(), { state: 'running' }),
  view: showClock,
})
