import type { JobUpdate } from '../../../src/api/sections/jobs.ts'
import { AppError } from '../../../src/core/error.ts'
import { MAX_DELIVERABLE_BYTES } from '../../../src/core/limits.ts'
import { compact } from '../../../src/core/record.ts'
import { schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import { transition } from '../../kernel/machine.ts'
import { isLarge, putText } from '../../store/blobs.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { applyStep } from './apply.ts'
import { type JobEvent, jobMachine } from './machine.ts'
import { type Deliverables, type JobRow, type KeptDeliverables, keepDeliverables, NO_DELIVERABLES } from './rows.ts'

export const reportStatuses = ['in_progress', 'completed', 'failed'] as const

/** A provider's report, sent to the job or the conversation, or as response to a dispatch. */
export type JobReport = {
  readonly status: (typeof reportStatuses)[number]
  readonly deliverable?: unknown
  readonly notes?: string | undefined
  readonly progress?: number | string | undefined
}

const ANYTHING = {}

export const reportEvents: Readonly<Record<JobReport['status'], JobEvent>> = {
  in_progress: 'start',
  completed: 'deliver',
  failed: 'fail',
}

/**
 * Checks a report and stores a large deliverable. Both take long, so call it before the transaction.
 * @throws AppError 409 in a wrong state, 400 with the paths that do not match the schema
 */
export async function checkReport(ctx: Checks, job: JobRow, report: JobReport): Promise<KeptDeliverables> {
  transition(jobMachine, { event: reportEvents[report.status], from: job.status, by: 'provider' })
  return report.status === 'completed' ? checkedDeliverables(ctx, job, report.deliverable) : NO_DELIVERABLES
}

type Checks = Pick<Context, 'blobs' | 'resources'>

async function checkedDeliverables(ctx: Checks, job: JobRow, given: unknown): Promise<KeptDeliverables> {
  if (given === undefined) throw refused([{ path: '', message: 'required: send the result of the job' }])
  const text = JSON.stringify(given)
  if (Buffer.byteLength(text) > MAX_DELIVERABLE_BYTES) {
    throw new AppError('too_large', `The deliverables are larger than ${MAX_DELIVERABLE_BYTES} bytes.`)
  }
  const how = { who: job.provider_id }
  const schema = job.deliverable_schema ?? ANYTHING
  const checked = await schemas.of(ctx).checkDeliverable(schema, { value: given, text }, how)
  if (!checked.ok) throw refused(checked.details)
  const list = Array.isArray(given) ? text : `[${text}]`
  return keepDeliverables(deliverablesOf(given), isLarge(list) ? list : undefined, (whole) => putText(ctx.blobs, whole))
}

/** Converts a deliverable to a list. */
export function deliverablesOf(given: unknown): Deliverables {
  return (Array.isArray(given) ? given : [given]) as Deliverables // parsed JSON
}

function refused(faults: readonly { readonly path: string; readonly message: string }[]): AppError {
  const details = faults.map(({ path, message }) => ({
    path: ['deliverables', path].filter(Boolean).join('.'),
    message,
  }))
  return new AppError('input_invalid', `${details[0]?.path}: ${details[0]?.message}`, { details })
}

type Reported = {
  readonly job: JobRow
  readonly report: JobReport
  /** From `checkReport`. */
  readonly kept: KeptDeliverables
  readonly at: number
}

/** Applies a checked report. A machine's result is verified at once, a human's result by the buyer (decisions §8). */
export async function applyReport(t: Tx, draw: Draw, { job, report, kept, at }: Reported): Promise<JobRow> {
  const { notes, progress } = report
  const detail = [progress === undefined ? '' : `Progress: ${progress}.`, notes ?? ''].filter(Boolean).join(' ')
  const event = reportEvents[report.status]
  const change = { ...(event === 'deliver' ? kept : {}), ...compact({ notes }) }
  const reported = await applyStep(t, draw, { job, step: { event, by: 'provider', at, detail, change } })
  const isVerified = reported.status === 'completed' && reported.service_type !== 'human_service'
  return isVerified ? verifyAutomatically(t, draw, { job: reported, at }) : reported
}

export function verifyAutomatically(t: Tx, draw: Draw, { job, at }: { job: JobRow; at: number }): Promise<JobRow> {
  const verification = { by: 'auto', rating: null, comment: null, at } as const
  return applyStep(t, draw, { job, step: { event: 'verify', by: 'system', at, change: { verification } } })
}

/** Reads a report from a request body, in which providers may use several names for a member (decisions §8). */
export function reportOf(body: JobUpdate): JobReport {
  const { status, deliverables, deliverable, result, notes, message, progress } = body
  return {
    status,
    // A member that is null counts as given.
    deliverable: [deliverables, deliverable, result].find((given) => given !== undefined),
    notes: notes ?? message,
    progress,
  }
}
