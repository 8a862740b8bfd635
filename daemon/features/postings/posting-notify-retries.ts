import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import { postingWork } from './work.ts'

/** Ends requests whose time has run out, and tells of new ones who was not reached yet (decisions §9, §10). */
export const postingNotifyRetries = defineCron({
  name: 'posting-notify-retries',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  run: async (call) => ((await runDueWork(postingWork, call)) > 0 ? undefined : idleUnderCutover(call.ctx)),
  nextDue: (ctx, from) => earliestDue(postingWork, ctx, from),
})
