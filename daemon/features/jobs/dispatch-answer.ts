import { JobUpdate } from '../../../src/api/sections/jobs.ts'
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
/** With this status, an endpoint promises to report later; its response body is no result. */
const ACCEPTED = 202

/** Job statuses in which the provider can still work. */
const awaiting: ReadonlySet<JobRow['status']> = new Set(['created', 'dispatched', 'in_progress'])

/** Whether a queued webhook message is still useful; the dispatch of an ended job is not. */
export async function isDispatchWanted(t: ReadTx, { type, job_id }: DeliveryRow): Promise<boolean> {
  if (type !== DISPATCH || job_id === null) return true
  const job = await t.table(jobs).get(job_id)
  return job !== undefined && awaiting.has(job.status)
}

/**
 * Hook that applies a provider's report from the response to a dispatch (decisions §10).
 * @throws AppError 400 on an invalid report; the dispatch is then retried.
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
 * Reads a response to a dispatch: a report, or a bare result that matches the schema. If the schema accepts any object,
 * only a report counts, because a bare object may be a mere acknowledgement.
 */
async function reportIn(checks: SchemaChecks, job: JobRow, answer: unknown): Promise<JobReport | undefined> {
  const update = JobUpdate.safeParse(answer)
  if (update.success) return reportOf(update.data)
  const schema = job.deliverable_schema ?? {}
  const fits = async (value: unknown) => (await checks.checkDeliverable(schema, { value }, { who: job.provider_id })).ok
  if (answer === undefined || (await fits({})) || !(await fits(answer))) return undefined
  return { status: 'completed', deliverable: answer }
}
