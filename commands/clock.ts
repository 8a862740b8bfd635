import { defineCall, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { cronNamed, moveClock, showClock, showMove, timeOf } from '../src/cli/nouns/clock.ts'
import * as z from '../src/cli/params.ts'
import { Duration } from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'

/** Value of `--until` that means "until the next cron is due". */
const NEXT_CRON = 'next-cron'

export const clockAdvance = defineCommand({
  name: 'clock advance',
  summary: 'move business time ahead; due events happen in order',
  description: 'Test money only. Payment windows and signatures use real time, which this command does not move.',
  args: z.object({ duration: Duration.optional().meta({ description: 'duration, such as 90s, 48h, 31d' }) }),
  options: z.object({
    until: z.text({ description: `stop after this cron has run: ${NEXT_CRON} or a name`, value: 'cron' }),
  }),
  examples: ['souk clock advance 1h', 'souk clock advance 31d --json', 'souk clock advance --until next-cron'],
  prints: 'moveClock',
  async run({ args: { duration }, options: { until }, session }) {
    if ((duration === undefined) === (until === undefined))
      throw usage('Give a duration such as 31d, or --until next-cron.')
    const open = await session()
    return moveClock(open, { advance_ms: duration ?? (await waitFor(open, until ?? NEXT_CRON)) })
  },
  view: showMove,
})

/** Business time until a cron is due, in ms, at least 1. */
async function waitFor(session: Session, until: string): Promise<number> {
  const { now, next_cron } = await session.call('getClock', {})
  const at = until === NEXT_CRON ? next_cron?.at : (await cronNamed(session, until)).next_run
  if (at === undefined || at === null) {
    throw new CliError(
      'conflict',
      until === NEXT_CRON ? 'No cron is due.' : `${until} is paused, so it has no next run.`,
      { next: ['souk crons list'] },
    )
  }
  return Math.max(1, Date.parse(at) - Date.parse(now))
}

export const clockFreeze = defineCommand({
  name: 'clock freeze',
  summary: 'freeze business time',
  examples: ['souk clock freeze', 'souk clock freeze --json'],
  prints: 'moveClock',
  run: async (context) => moveClock(await context.session(), { state: 'frozen' }),
  view: showClock,
})

export const clockRun = defineCommand({
  name: 'clock run',
  summary: 'resume business time',
  examples: ['souk clock run', 'souk clock run --json'],
  prints: 'moveClock',
  run: async (context) => moveClock(await context.session(), { state: 'running' }),
  view: showClock,
})

export const clockSet = defineCommand({
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

export const clockShow = defineCall({
  name: 'clock show',
  summary: 'show business time and real time',
  examples: ['souk clock show', 'souk clock show --json'],
  asks: 'getClock',
  view: showClock,
})
