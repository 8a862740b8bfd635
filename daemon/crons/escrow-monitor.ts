import { MINUTE_MS } from '../../src/core/time.ts'
import { jobWork } from '../jobs/due-work.ts'
import { everyMinute } from '../rules/schedule.ts'
import { defineCron } from './cron.ts'
import { type DueWork, earliestDue, runDueWork } from './due-work.ts'
import { hasMoneyIn, idleUnderCutover } from './unresolved.ts'

/** What falls due on jobs, in the order in which it is done. */
const escrowWork: readonly DueWork[] = jobWork

/** Moves jobs on whose time has come: verification, release, deadlines (decisions §8). */
export const escrowMonitor = defineCron({
  name: 'escrow-monitor',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  async run(ctx) {
    const holds = await hasMoneyIn(ctx.world, ['esc'])
    const done = await runDueWork(escrowWork, ctx)
    return holds || done > 0 ? undefined : idleUnderCutover(ctx.world)
  },
  nextDue: (world, from) => earliestDue(escrowWork, world, from),
})
