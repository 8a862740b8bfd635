import { AppError } from '../../../src/core/error.ts'
import { defineHook } from '../../kernel/hook.ts'
import { nextMembers, transition } from '../../kernel/machine.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { moveEscrow } from './escrow.ts'
import { nextOf } from './job-deadlines.ts'
import { isEnd, type JobTransition, jobMachine } from './machine.ts'
import { type JobStep, tellStep } from './notify.ts'
import { type JobRow, jobs, putJob } from './rows.ts'

/** Maximum timeline entries of a job. Progress reports stop a few entries earlier, to leave room for the job's end. */
const MAX_TIMELINE = 200
const KEPT_FOR_THE_END = 20
const MAX_DETAIL_CHARS = 300

/** Called when all or part of a job's money has left escrow, so that dependent records can end, too. */
export const escrowMoved =
  defineHook<[t: Tx, draw: Draw, moved: { readonly job: JobRow; readonly at: number }]>('escrow-moved')

export function lockJob(t: Tx, id: string): Promise<JobRow | undefined> {
  return t.table(jobs).getForUpdate(id)
}

/**
 * The only way to change a job's state. Writes row, money, conversation, events and messages in the caller's
 * transaction, which has locked the job.
 * @throws AppError 409 invalid_transition with `from`, `to` and `allowed`; nothing is written then.
 */
export async function applyStep(
  t: Tx,
  draw: Draw,
  { job, step }: { readonly job: JobRow; readonly step: JobStep },
): Promise<JobRow> {
  const { event, by, at } = step
  const arrow: JobTransition = transition(jobMachine, { event, from: job.status, by })
  refuseEndlessProgress(job, arrow)
  const escrow_status = await moveEscrow(t, draw, { job, arrow, at, toBuyer: step.toBuyer })
  const changed = await putJob(t, { ...changedBy(job, arrow, step), escrow_status })
  await tellStep(t, draw, { job: changed, arrow, step })
  if (job.escrow_status !== escrow_status) await escrowMoved.call(t, draw, { job: changed, at })
  return changed
}

function changedBy(job: JobRow, arrow: JobTransition, { at, by, detail = '', change = {} }: JobStep): JobRow {
  const next = nextOf({ ...job, ...change, status: arrow.to }, at)
  return {
    ...job,
    ...change,
    status: arrow.to,
    open: next !== null,
    ...nextMembers(next),
    completed_at: arrow.to === 'completed' ? at : job.completed_at,
    ended_at: isEnd(arrow.to) ? at : job.ended_at,
    ended_by: isEnd(arrow.to) ? by : job.ended_by,
    timeline: [...job.timeline, { at, event: arrow.to, detail: detail.slice(0, MAX_DETAIL_CHARS) }],
  }
}

function refuseEndlessProgress(job: JobRow, { to }: JobTransition): void {
  if (to !== job.status || job.timeline.length < MAX_TIMELINE - KEPT_FOR_THE_END) return
  throw new AppError(
    'conflict',
    `This job has reached the limit of ${job.timeline.length} updates: complete or fail it.`,
  )
}
