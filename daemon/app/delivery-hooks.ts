import { dispatchAnswers } from '../features/jobs/dispatch-answer.ts'
import { type JobRow, jobs } from '../features/jobs/rows.ts'
import { isNoticeWanted, noticeEnded } from '../features/postings/notify.ts'
import type { DeliveryHooks } from '../features/webhooks/worker.ts'
import type { Context } from '../kernel/context.ts'

/** A job that its provider can still work on. */
const awaiting: ReadonlySet<JobRow['status']> = new Set(['created', 'dispatched', 'in_progress'])

/**
 * What deliveries mean to jobs and postings (decisions §10): what tells of an ended one is dropped, a dispatch may be
 * answered with the result, and a notification that was not taken is tried again by its cron.
 */
export const deliveryHooks = (ctx: Pick<Context, 'store' | 'resources'>): DeliveryHooks => ({
  async isWanted(t, row) {
    const { type, job_id } = row
    if (type !== 'job_dispatch' || job_id === null) return isNoticeWanted(t, row)
    const job = await t.table(jobs).get(job_id)
    return job !== undefined && awaiting.has(job.status)
  },

  onTaken: dispatchAnswers(ctx),
  onEnded: (t, draw, delivery) => noticeEnded(t, draw, { delivery, now: delivery.at }),
})
