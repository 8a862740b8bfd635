import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyFiveMinutes } from '../../crons/schedule.ts'
import { readPlatform } from '../../kernel/switches.ts'
import { subscriptionWork } from './due-work.ts'
import { giveBackPauses } from './pauses.ts'

/** Charges due renewals, and ends subscriptions that are not renewed (decisions §9, §12). */
export const subscriptions = defineCron({
  name: 'subscriptions',
  schedule: everyFiveMinutes,
  deadlineMs: 5 * MINUTE_MS,
  inHealth: true,
  async run(call) {
    const { paused_at } = await call.ctx.store.read(readPlatform)
    if (paused_at !== null) return { skip: 'paused' }
    await giveBackPauses(call.ctx)
    const done = await runDueWork(subscriptionWork, call)
    return done > 0 ? undefined : idleUnderCutover(call.ctx)
  },
  nextDue: (ctx, from) => earliestDue(subscriptionWork, ctx, from),
})
