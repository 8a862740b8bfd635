import type { Context } from '../kernel/context.ts'
import type { MovableClock } from '../ports/clock.ts'
import type { Cron } from './cron.ts'
import { createScheduler, scheduler } from './scheduler.ts'
import { openCronState } from './state.ts'
import { createTimeline, timeline } from './timeline.ts'

type Parts = {
  readonly crons: readonly Cron[]
  readonly clock: MovableClock
}

/** The crons over their stored rows; nothing begins before `start`. */
export async function openCrons(ctx: Context, { crons, clock }: Parts): Promise<void> {
  const { store, entropy, config } = ctx
  const names = crons.map((cron) => cron.name)
  const state = await openCronState({ store, entropy, names, now: clock.now() })
  const runs = createScheduler({ ctx, crons, state })
  scheduler.open(ctx, runs, runs.stop)
  timeline.open(ctx, createTimeline({ clock, crons: runs, runsCrons: config.crons, ctx }))
}
