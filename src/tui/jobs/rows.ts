import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { rulings } from '../../model/job.ts'
import { ask } from '../shell/queries.ts'
import type { JobView } from '../shell/ui.ts'
import { type JobDetail, type JobOnScreen, readBundle, readJob, readWhole } from './facts.ts'

/** Jobs of one status on a page. */
export const JOBS_PAGE = 50
const MESSAGES = 100

type Status = WireAnswer<Api['getJob']>['status']

/** The interface lists one status at a time, or all of them. */
const statusesOf: Readonly<Record<JobView, readonly (Status | undefined)[]>> = {
  open: ['disputed', 'completed', 'in_progress', 'dispatched', 'created'],
  all: [undefined],
  failed: ['failed', 'expired', 'cancelled'],
  disputed: ['disputed'],
}

export type Jobs = {
  readonly jobs: readonly JobOnScreen[]
  /** Jobs that the instance counts in these statuses. */
  readonly total: number
  /** Of the status that has most of them: what the last page depends on. */
  readonly longest: number
}

export type Which = { readonly view: JobView; readonly page: number; readonly admin: boolean }

/** One page of each status of a view, the newest first; everybody's jobs, or one's own without the admin credential. */
export const fetchJobs =
  (link: Link, { view, page, admin }: Which) =>
  async (signal: AbortSignal): Promise<Outcome<Jobs>> => {
    const answers = await Promise.all(
      statusesOf[view].map((status) => {
        const part = status === undefined ? {} : { status }
        const asked = { query: { limit: String(JOBS_PAGE), offset: String(page * JOBS_PAGE), ...part }, signal }
        return ask(link, { name: admin ? 'listAllJobs' : 'listJobs', asked }, ({ jobs, total }) => ({
          status,
          jobs: jobs.map(readJob),
          total,
        }))
      }),
    )
    const parts: { status: Status | undefined; jobs: JobOnScreen[]; total: number }[] = []
    for (const answer of answers) {
      if (!answer.ok) return answer
      parts.push(view === 'open' ? openOnly(answer.value) : answer.value)
    }
    return {
      ok: true,
      value: {
        jobs: parts.flatMap(({ jobs }) => jobs).toSorted((a, b) => (b.createdAt ?? 0) - (a.createdAt ?? 0)),
        total: parts.reduce((sum, { total }) => sum + total, 0),
        longest: Math.max(...parts.map(({ total }) => total)),
      },
    }
  }

/** A completed job is open while its money is held; what was delivered at once was never. */
function openOnly<T extends { status: Status | undefined; jobs: JobOnScreen[]; total: number }>(part: T): T {
  if (part.status !== 'completed') return part
  const jobs = part.jobs.filter(({ nextEvent }) => nextEvent !== '')
  return { ...part, jobs, total: jobs.length }
}

/** Everything about one job; nothing for no id. */
export const fetchJob =
  (link: Link, { id, admin }: { id: string; admin: boolean }) =>
  async (signal: AbortSignal): Promise<Outcome<JobDetail | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const params = { id }
    if (admin) return ask(link, { name: 'getJobBundle', asked: { params, signal } }, readBundle)
    const query = { limit: String(MESSAGES) }
    const [job, messages] = await Promise.all([
      ask(link, { name: 'getJob', asked: { params, signal } }, (answer) => answer),
      ask(link, { name: 'getJobMessages', asked: { params, query, signal } }, (page) => page.messages),
    ])
    if (!job.ok) return job
    return { ok: true, value: readWhole(job.value, messages.ok ? messages.value : []) }
  }

type Outcomes = (typeof rulings)[number]
export type RulingDraft = { readonly outcome: Outcomes; readonly buyerAmount: string; readonly reason: string }

/** Decides a dispute. @returns the job as it is then. */
export function resolveJob(
  link: Link,
  id: string,
  { outcome, buyerAmount, reason }: RulingDraft,
): Promise<Outcome<JobOnScreen>> {
  const body = { outcome, reason, ...(buyerAmount === '' ? {} : { buyer_amount: buyerAmount }) }
  return ask(link, { name: 'resolveJob', asked: { params: { id }, body } }, readJob)
}
