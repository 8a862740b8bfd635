import { JobUpdate } from '../../src/api/job-actions.ts'
import type { JobRow } from '../../src/model/job.ts'
import { checkDeliverable } from '../rules/input-schema.ts'
import { jobMachine } from '../rules/job-machine.ts'
import { findTransition } from '../rules/machine.ts'
import type { DeliveryHooks } from '../webhooks/worker.ts'
import { holdJob } from './apply.ts'
import { applyReport, checkReport, type Report } from './report.ts'
import { reportOf } from './report-body.ts'

const DISPATCH = 'job_dispatch'
/** The endpoint will call back: what it says beside that is no result. */
const ACCEPTED = 202

/**
 * A dispatch may be answered with the result (decisions §10), which counts like a report by the provider.
 * @throws AppError 400 on a report that is wrong: the dispatch is then sent again.
 */
export const takeDispatchAnswer: NonNullable<DeliveryHooks['onTaken']> = async (t, draw, { row, answer }) => {
  if (row.type !== DISPATCH || row.job_id === null || row.attempts.at(-1)?.status === ACCEPTED) return
  const job = await holdJob(t, row.job_id)
  if (!job || !canDeliver(job)) return
  const report = reportIn(job, answer)
  if (!report) return
  await applyReport(t, draw, { job, report, items: checkReport(job, report), at: row.at })
}

function canDeliver({ status }: JobRow): boolean {
  return findTransition(jobMachine, { event: 'deliver', from: status, by: 'provider' }) !== undefined
}

/**
 * A report, or a bare result. Where the listing's schema takes anything, a bare object may as well
 * be an acknowledgement: there only a report counts.
 */
function reportIn(job: JobRow, answer: unknown): Report | undefined {
  const update = JobUpdate.safeParse(answer)
  if (update.success) return reportOf(update.data)
  const schema = job.deliverable_schema ?? {}
  if (checkDeliverable(schema, {}).ok || !checkDeliverable(schema, answer).ok) return undefined
  return { status: 'completed', deliverable: answer }
}
