import { JobUpdate } from '../../../src/api/sections/job-actions.ts'
import { type SchemaChecks, schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import { findTransition } from '../../kernel/machine.ts'
import type { ReadTx } from '../../store/port.ts'
import type { DeliveryRow } from '../webhooks/rows.ts'
import type { DeliveryHooks } from '../webhooks/worker.ts'
import { lockJob } from './apply.ts'
import { jobMachine } from './machine.ts'
import { applyReport, checkReport, type JobReport, reportOf } from './report.ts'
import { type JobRow, jobs } from './rows.ts'

const DISPATCH = 'job_dispatch'
/** The endpoint will call back: what it says beside that is no result. */
const ACCEPTED = 202

/** A job that its provider can still work on. */
const awaiting: ReadonlySet<JobRow['status']> = new Set(['created', 'dispatched', 'in_progress'])

/** Whether a dispatch still makes sense: that of an ended job does not. Whatever else is sent does. */
export async function isDispatchWanted(t: ReadTx, { type, job_id }: DeliveryRow): Promise<boolean> {
  if (type !== DISPATCH || job_id === null) return true
  const job = await t.table(jobs).get(job_id)
  return job !== undefined && awaiting.has(job.status)
}

/**
 * A dispatch may be answered with the result (decisions §10), which counts like a report by the provider.
 * @throws AppError 400 on a report that is wrong: the dispatch is then sent again.
 */
export function dispatchAnswers(
  ctx: Pick<Context, 'store' | 'blobs' | 'resources'>,
): NonNullable<DeliveryHooks['onTaken']> {
  return async ({ row, status, answer }) => {
    if (row.type !== DISPATCH || row.job_id === null || status === ACCEPTED) return undefined
    const { job_id: id } = row
    const seen = await ctx.store.table(jobs).get(id)
    const report = seen && canDeliver(seen) ? await reportIn(schemas.of(ctx), seen, answer) : undefined
    if (!seen || !report) return undefined
    const kept = await checkReport(ctx, seen, report)
    return async (t, draw, { at }) => {
      const job = await lockJob(t, id)
      if (job && canDeliver(job)) await applyReport(t, draw, { job, report, kept, at })
    }
  }
}

function canDeliver({ status }: JobRow): boolean {
  return findTransition(jobMachine, { event: 'deliver', from: status, by: 'provider' }) !== undefined
}

/**
 * A report, or a bare result. Where the listing's schema takes anything, a bare object may as well
 * be an acknowledgement: there only a report counts.
 */
async function reportIn(checks: SchemaChecks, job: JobRow, answer: unknown): Promise<JobReport | undefined> {
  const update = JobUpdate.safeParse(answer)
  if (update.success) return reportOf(update.data)
  const schema = job.deliverable_schema ?? {}
  const fits = async (value: unknown) => (await checks.checkDeliverable(schema, { value }, { who: job.provider_id })).ok
  if (answer === undefined || (await fits({})) || !(await fits(answer))) return undefined
  return { status: 'completed', deliverable: answer }
}
