import { defineCommand } from '../../src/cli/command.ts'
import { Duration } from '../../src/cli/duration.ts'
import { moveClock, showMove } from '../../src/cli/nouns/clock.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'clock advance',
  summary: 'move business time ahead; what falls due on the way happens in order',
  description: 'Test money only. Payment windows and signatures go by wall time, which is never moved.',
  args: z.object({ duration: Duration.meta({ description: 'such as 90s, 48h, 31d' }) }),
  options: z.object({}),
  examples: ['souk clock advance 1h', 'souk clock advance 31d --json'],
  run: async (context) => moveClock(await context.session(), { advance_ms: context.args.duration }),
  view: showMove,
})
