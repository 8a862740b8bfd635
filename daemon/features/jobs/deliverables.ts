import type { Collection, Reader, Row, Tx } from '../../store/port.ts'
import { deliverables, type JobRow } from './rows.ts'

export type Deliverables = JobRow['deliverables']
type Kept = Pick<JobRow, 'deliverables' | 'deliverables_apart'>

/** Larger ones stand in a row of their own, so that a job is not rewritten with them at every change. */
const MAX_INLINE_CHARS = 16 * 1024

/** Writes what was delivered, once. @returns the members of the job's row that say where it is. */
export async function keepDeliverables(t: Tx, jobId: string, items: Deliverables): Promise<Kept> {
  const text = JSON.stringify(items)
  if (text.length <= MAX_INLINE_CHARS) return { deliverables: items, deliverables_apart: false }
  await t.table(deliverables).insert({ id: jobId, text })
  return { deliverables: [], deliverables_apart: true }
}

export type DeliverablesReader = { table<R extends Row>(collection: Collection<R>): Pick<Reader<R>, 'get'> }

/** What was delivered, wherever it stands. */
export async function readDeliverables(reader: DeliverablesReader, job: JobRow): Promise<Deliverables> {
  if (!job.deliverables_apart) return job.deliverables
  const row = await reader.table(deliverables).get(job.id)
  if (!row) throw new Error(`${job.id} has lost its deliverables`)
  return JSON.parse(row.text) as Deliverables // written by keepDeliverables
}
