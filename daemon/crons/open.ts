import type { Context } from '../kernel/context.ts'
import type { MovableClock } from '../ports/clock.ts'
import type { Cron, CronRound } from './cron.ts'
import { createScheduler } from './scheduler.ts'
import { openCronState } from './state.ts'
import { createTimeline } from './timeline.ts'

type Parts = Pick<Context, 'store' | 'entropy' | 'config'> & {
  readonly crons: readonly Cron[]
  readonly clock: MovableClock
  readonly finishPayments: CronRound['finishPayments']
  /** Known once it is built: crons are a part of it. */
  readonly ctx: () => Context
}

/** The crons over their stored rows; nothing begins before `start`. */
export async function openCrons(parts: Parts): Promise<Pick<Context, 'crons' | 'timeline'>> {
  const { clock, ctx } = parts
  const names = parts.crons.map((cron) => cron.name)
  const state = await openCronState({ store: parts.store, entropy: parts.entropy, names, now: clock.now() })
  const crons = createScheduler({ ...parts, state })
  return { crons, timeline: createTimeline({ clock, crons, runsCrons: parts.config.crons, ctx }) }
}
