import { MINUTE_MS } from '../../../src/core/time.ts'
import { defineCron, idleUnderCutover } from '../../crons/cron.ts'
import { type DueWork, dueWork, earliestDue, runDueWork } from '../../crons/due-work.ts'
import { everyMinute } from '../../crons/schedule.ts'
import type { Platform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import { stepPosting } from './close.ts'
import { retryNotice, tellAll } from './notify.ts'
import { fanouts, notices, postings } from './rows.ts'

/** During the cutover no notifications are sent, because nobody could bid. */
const rests = ({ checkout_v2 }: Platform) => checkout_v2

export const postingWork: readonly DueWork[] = [
  dueWork({
    name: 'posting.expire',
    collection: postings,
    index: 'due',
    dueAt: (row) => row.expires_at,
    run: (ctx, id, now) =>
      commit(ctx, async (t, draw) => {
        const posting = await t.table(postings).getForUpdate(id)
        if (!posting?.open || posting.expires_at > now) return
        await stepPosting(t, draw, { posting, event: 'expire', by: 'system', at: now })
      }),
  }),
  dueWork({
    name: 'posting.tell',
    collection: fanouts,
    index: 'at',
    dueAt: (row) => row.at,
    rests,
    run: tellAll,
  }),
  dueWork({
    name: 'posting.retry',
    collection: notices,
    index: 'due',
    dueAt: (row) => row.next_at,
    rests,
    run: (ctx, id, now) => commit(ctx, (t) => retryNotice(t, { id, now })),
  }),
]

/** Ends expired requests, and continues notifications of new ones (decisions §9, §10). */
export const postingNotifyRetries = defineCron({
  name: 'posting-notify-retries',
  schedule: everyMinute,
  deadlineMs: 2 * MINUTE_MS,
  inHealth: true,
  run: async (call) => ((await runDueWork(postingWork, call)) > 0 ? undefined : idleUnderCutover(call.ctx)),
  nextDue: (ctx, from) => earliestDue(postingWork, ctx, from),
})
