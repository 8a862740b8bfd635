import type { JobRow } from '../../../src/model/job.ts'
import { postings } from '../../store/collections.ts'
import type { Draw } from '../../store/draw.ts'
import type { Tx } from '../../store/port.ts'
import { stepPosting } from './close.ts'

/** How a job's money went, as the posting behind it sees it (decisions §9). */
const eventOf: Partial<Record<JobRow['escrow_status'], 'complete' | 'refund'>> = {
  released: 'complete',
  split: 'complete',
  refunded: 'refund',
}

/** A posting ends with the job that came of it, in the transaction that moves the job's money. */
export async function followJob(t: Tx, draw: Draw, { job, at }: { readonly job: JobRow; readonly at: number }) {
  const event = eventOf[job.escrow_status]
  if (job.posting_id === null || event === undefined) return
  const posting = await t.table(postings).getForUpdate(job.posting_id)
  if (posting?.status !== 'awarded') throw new Error(`${job.id} comes of ${job.posting_id}, which is not awarded`)
  await stepPosting(t, draw, { posting, event, by: 'system', at })
}
