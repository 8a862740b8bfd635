import { defineCall } from '../../src/cli/command.ts'
import { showClock } from '../../src/cli/nouns/clock.ts'

export const command = defineCall({
  name: 'clock show',
  summary: 'show business time and real time',
  examples: ['souk clock show', 'souk clock show --json'],
  asks: 'getClock',
  asked: () => ({}),
  view: showClock,
})
