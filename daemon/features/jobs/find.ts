import { existing } from '../../../src/core/error.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import { transition } from '../../kernel/machine.ts'
import { notYours } from '../../kernel/parties.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import type { Payer } from '../payments/seller.ts'
import { type ThreadRow, threads } from '../threads/rows.ts'
import { type JobEvent, threadMachine } from './machine.ts'
import { type JobRow, jobs } from './rows.ts'

/** Where an action was sent: to a job, or to its conversation. */
export type JobPlace = { readonly kind: 'job' | 'thread'; readonly id: string }

/** An action on a job, and which party may take it. */
export type JobAsked = {
  readonly event: JobEvent
  readonly by: PartyRole
  readonly isTheirs: (thread: ThreadRow) => boolean
}

/** @throws AppError 404 for an unknown job or conversation; if a conversation has no job, 409 or, for outsiders, 403 */
export async function jobAt(t: ReadTx, { kind, id }: JobPlace, asked: JobAsked): Promise<JobRow> {
  const jobId = kind === 'job' ? id : jobIdOf(await threadById(t, id), asked)
  return existing(await t.table(jobs).get(jobId), 'The job')
}

function jobIdOf(thread: ThreadRow, { event, by, isTheirs }: JobAsked): string {
  if (thread.job_id !== null) return thread.job_id
  if (!isTheirs(thread)) throw notYours('The thread')
  transition(threadMachine, { event, from: thread.status, by })
  throw new Error(`${thread.id} is ${thread.status} without a job`)
}

/** @throws AppError 404 */
export async function threadById(t: ReadTx, id: string): Promise<ThreadRow> {
  return existing(await t.table(threads).get(id), 'The thread')
}

/** @throws AppError 403 for any wallet but that of the job's buyer */
export function refuseUnlessBuyer(job: JobRow, { wallet }: Pick<Payer, 'wallet'>): void {
  if (wallet !== job.buyer_wallet) throw notYours('The job')
}

/** @throws AppError 403 for anyone but the job's provider */
export function refuseUnlessProvider(job: JobRow, { id }: Pick<ParticipantRow, 'id'>): void {
  if (id !== job.provider_id) throw notYours('The job')
}
