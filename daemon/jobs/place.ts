import { AppError, notFound } from '../../src/core/error.ts'
import type { JobRow } from '../../src/model/job.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { ThreadRow } from '../../src/model/thread.ts'
import type { Payer } from '../handler.ts'
import { notYours } from '../job-access.ts'
import { jobs, threads } from '../store/collections.ts'
import type { ReadTx } from '../store/port.ts'

/** Where an act on a job comes in: at the job itself, or at its conversation. */
export type Place = { readonly kind: 'job' | 'thread'; readonly id: string }

/** @throws AppError 404 for no such place, 409 where nothing was bought yet. */
export async function jobAt(t: ReadTx, { kind, id }: Place): Promise<JobRow> {
  const jobId = kind === 'job' ? id : (await threadById(t, id)).job_id
  if (jobId === null) throw new AppError('conflict', 'Nothing was bought in this conversation yet: there is no job.')
  const job = await t.table(jobs).get(jobId)
  if (!job) throw notFound('The job')
  return job
}

/** @throws AppError 404 */
export async function threadById(t: ReadTx, id: string): Promise<ThreadRow> {
  const thread = await t.table(threads).get(id)
  if (!thread) throw notFound('The thread')
  return thread
}

/** The buyer's side is owned by its wallet. @throws AppError 403 for anybody else. */
export function refuseUnlessBuyer(job: JobRow, { wallet }: Pick<Payer, 'wallet'>): void {
  if (wallet !== job.buyer_wallet) throw notYours('The job')
}

/** @throws AppError 403 for anybody but the provider of the job. */
export function refuseUnlessProvider(job: JobRow, { id }: Pick<ParticipantRow, 'id'>): void {
  if (id !== job.provider_id) throw notYours('The job')
}
