import type { Link, Outcome } from '../../client/link.ts'
import type { rulings } from '../../model/job.ts'
import type { Job } from '../../nouns/jobs.ts'
import { ask, type glance } from '../shell/queries.ts'
import { type JobDetail, readBundle, readWhole } from './facts.ts'

const MESSAGES = 100

/** Fetches all data of a job. Undefined without an id. */
export const fetchJob =
  (link: Link, { id, admin }: { id: string; admin: boolean }, headers?: typeof glance) =>
  async (signal: AbortSignal): Promise<Outcome<JobDetail | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const params = { id }
    if (admin)
      return ask(link, { name: 'getJobBundle', asked: { params, signal, ...(headers && { headers }) } }, readBundle)
    const query = { limit: String(MESSAGES) }
    const [job, messages] = await Promise.all([
      ask(link, { name: 'getJob', asked: { params, signal } }, (answer) => answer),
      ask(link, { name: 'getJobMessages', asked: { params, query, signal } }, (page) => page.messages),
    ])
    if (!job.ok) return job
    return { ok: true, value: readWhole(job.value, messages.ok ? messages.value : []) }
  }

type RulingDraft = { readonly outcome: (typeof rulings)[number]; readonly buyerAmount: string; readonly reason: string }

/** Decides a dispute. @returns the job afterwards */
export function resolveJob(
  link: Link,
  id: string,
  { outcome, buyerAmount, reason }: RulingDraft,
): Promise<Outcome<Job>> {
  const body = { outcome, reason, ...(buyerAmount === '' ? {} : { buyer_amount: buyerAmount }) }
  return ask(link, { name: 'resolveJob', asked: { params: { id }, body } }, (job) => job)
}
