import { defineCommand } from '../../src/cli/command.ts'
import { cronNamed, moveClock, timeOf } from '../../src/cli/nouns/clock.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'crons run',
  summary: 'run a scheduled job now',
  args: z.object({ cron: z.string().meta({ description: 'name' }) }),
  options: z.object({
    at: z.string().optional().meta({ description: 'move business time there first; due events happen', value: 'time' }),
  }),
  examples: [
    'souk crons run auto-refund',
    'souk crons run auto-refund --json',
    'souk crons run auto-refund --at 2030-01-31T00:00:00Z --dry-run',
  ],
  prints: 'runCron',
  async run({ args: { cron: name }, options: { at }, session }) {
    const set = at === undefined ? undefined : timeOf(at)
    const open = await session()
    // Before the clock moves, which cannot be taken back, it is known that there is such a cron.
    if (set !== undefined) {
      await cronNamed(open, name)
      await moveClock(open, { set })
    }
    return open.call('runCron', { params: { name } })
  },
  view: ({ name }, io) => io.line(`${green('✓')} ${bold(name)} ran`),
})
