import { defineCommand } from '../../src/cli/command.ts'
import { moveClock, showClock } from '../../src/cli/nouns/clock.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'clock freeze',
  summary: 'freeze business time',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk clock freeze', 'souk clock freeze --json'],
  run: async (context) => moveClock(await context.session(), { state: 'frozen' }),
  view: showClock,
})
