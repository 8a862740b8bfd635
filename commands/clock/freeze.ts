import { defineCommand } from '../../src/cli/command.ts'
import { moveClock, showClock } from '../../src/cli/nouns/clock.ts'

export const command = defineCommand({
  name: 'clock freeze',
  summary: 'freeze business time',
  examples: ['souk clock freeze', 'souk clock freeze --json'],
  prints: 'moveClock',
  run: async (context) => moveClock(await context.session(), { state: 'frozen' }),
  view: showClock,
})
