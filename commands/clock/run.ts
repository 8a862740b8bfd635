import { defineCommand } from '../../src/cli/command.ts'
import { moveClock, showClock } from '../../src/cli/nouns/clock.ts'

export const command = defineCommand({
  name: 'clock run',
  summary: 'resume business time',
  examples: ['souk clock run', 'souk clock run --json'],
  prints: 'moveClock',
  run: async (context) => moveClock(await context.session(), { state: 'running' }),
  view: showClock,
})
