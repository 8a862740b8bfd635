import type { JobRow } from '../src/model/job.ts'
import { takeDispatchAnswer } from './jobs/dispatch-answer.ts'
import { jobs } from './store/collections.ts'
import type { DeliveryHooks } from './webhooks/worker.ts'

/** A job that its provider can still work on. */
const awaiting: ReadonlySet<JobRow['status']> = new Set(['created', 'dispatched', 'in_progress'])

/** What deliveries mean to jobs: the dispatch of an ended one is dropped, and may be answered with the result (decisions §10). */
export const deliveryHooks: DeliveryHooks = {
  async isWanted(t, { type, job_id }) {
    if (type !== 'job_dispatch' || job_id === null) return true
    const job = await t.table(jobs).get(job_id)
    return job !== undefined && awaiting.has(job.status)
  },

  onTaken: takeDispatchAnswer,
}
