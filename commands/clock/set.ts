import { defineCommand } from '../../src/cli/command.ts'
import { moveClock, showMove, timeOf } from '../../src/cli/nouns/clock.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'clock set',
  summary: 'set business time; it cannot move back',
  args: z.object({ time: z.string().meta({ description: 'ISO 8601 time, such as 2099-01-31T00:00:00Z' }) }),
  examples: ['souk clock set 2030-01-31T00:00:00Z --dry-run', 'souk clock set 2030-01-31T00:00:00Z --dry-run --json'],
  prints: 'moveClock',
  async run(context) {
    const set = timeOf(context.args.time)
    return moveClock(await context.session(), { set })
  },
  view: showMove,
})
