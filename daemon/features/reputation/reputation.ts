import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron } from '../../crons/cron.ts'
import { type DueWork, earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyQuarterHour } from '../../crons/schedule.ts'
import { pageCache } from '../../endpoint/page-cache.ts'
import { countWork } from './count.ts'
import { evidenceWork } from './enter-evidence.ts'
import { publishWork } from './publish.ts'

/** Each step produces work for the next one. */
const reputationWork: readonly DueWork[] = [countWork, evidenceWork, publishWork]

/** Counts jobs for reputation, writes evidence and publishes it (decisions §11). */
export const reputation = defineCron({
  name: 'reputation',
  schedule: everyQuarterHour,
  deadlineMs: 5 * MINUTE_MS,
  inHealth: true,
  async run(call) {
    try {
      await runDueWork(reputationWork, call)
    } finally {
      // Drops cached pages, because they show verdicts and the expiry of verdicts.
      pageCache.of(call.ctx).drop()
    }
    return undefined
  },
  nextDue: (ctx, from) => earliestDue(reputationWork, ctx, from),
})
