import { MINUTE_MS } from '../../src/core/time.ts'
import { countWork } from '../reputation/count.ts'
import { evidenceWork } from '../reputation/evidence.ts'
import { publishWork } from '../reputation/publish.ts'
import { everyQuarterHour } from '../rules/schedule.ts'
import { defineCron } from './cron.ts'
import { type DueWork, earliestDue, runDueWork } from './due-work.ts'

/** Each makes the work of the next. */
const reputationWork: readonly DueWork[] = [countWork, evidenceWork, publishWork]

/** Counts jobs for their providers' reputation, writes the evidence and publishes it (decisions §11). */
export const reputation = defineCron({
  name: 'reputation',
  schedule: everyQuarterHour,
  deadlineMs: 5 * MINUTE_MS,
  inHealth: true,
  async run(ctx) {
    try {
      await runDueWork(reputationWork, ctx)
    } finally {
      // Verdicts on finished pages name the time until which they hold.
      ctx.world.pages.drop()
    }
    return undefined
  },
  nextDue: (world, from) => earliestDue(reputationWork, world, from),
})
