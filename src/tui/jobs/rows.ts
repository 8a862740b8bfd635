import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { get, pathTo, post } from '../shell/queries.ts'
import { fields, list } from '../shell/read.ts'
import type { JobView } from '../shell/ui.ts'
import { type Job, type JobDetail, readBundle, readJob, readWhole, totalOf } from './facts.ts'

/** Jobs of one status on a page. */
export const JOBS_PAGE = 50
const MESSAGES = 100

const paths = {
  listAllJobs: '/dashboard/api/admin/jobs',
  getJobBundle: '/dashboard/api/admin/jobs/:id/bundle',
  resolveJob: '/dashboard/api/admin/jobs/:id/resolve',
  listJobs: '/v1/jobs',
  getJob: '/v1/jobs/:id',
  getJobMessages: '/v1/jobs/:id/messages',
} as const satisfies Partial<{ [K in keyof Api]: Api[K]['path'] }>

/** The interface lists one status at a time, or all of them. */
const statusesOf: Readonly<Record<JobView, readonly (string | undefined)[]>> = {
  open: ['disputed', 'completed', 'in_progress', 'dispatched', 'created'],
  all: [undefined],
  failed: ['failed', 'expired', 'cancelled'],
  disputed: ['disputed'],
}

export type Jobs = {
  readonly jobs: readonly Job[]
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
        const query = { limit: JOBS_PAGE, offset: page * JOBS_PAGE, status }
        const call = admin ? { path: paths.listAllJobs } : { path: paths.listJobs, own: true }
        return get(link, { ...call, query, signal }, (body) => ({
          status,
          jobs: list(body.jobs).map(readJob),
          total: totalOf(body),
        }))
      }),
    )
    const parts: { status: string | undefined; jobs: Job[]; total: number }[] = []
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
function openOnly<T extends { status: string | undefined; jobs: Job[]; total: number }>(part: T): T {
  if (part.status !== 'completed') return part
  const jobs = part.jobs.filter(({ nextEvent }) => nextEvent !== '')
  return { ...part, jobs, total: jobs.length }
}

/** Everything about one job; nothing for no id. */
export const fetchJob =
  (link: Link, { id, admin }: { id: string; admin: boolean }) =>
  async (signal: AbortSignal): Promise<Outcome<JobDetail | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    if (admin) return get(link, { path: pathTo(paths.getJobBundle, id), signal }, readBundle)
    const [job, messages] = await Promise.all([
      get(link, { path: pathTo(paths.getJob, id), own: true, signal }, (body) => body),
      get(
        link,
        { path: pathTo(paths.getJobMessages, id), query: { limit: MESSAGES }, own: true, signal },
        (body) => body.messages,
      ),
    ])
    if (!job.ok) return job
    return { ok: true, value: readWhole(job.value, messages.ok ? messages.value : []) }
  }

export type Ruling = { readonly outcome: string; readonly buyerAmount: string; readonly reason: string }

/** Decides a dispute. @returns the job as it is then. */
export function resolveJob(link: Link, id: string, { outcome, buyerAmount, reason }: Ruling): Promise<Outcome<Job>> {
  const body = { outcome, reason, ...(buyerAmount === '' ? {} : { buyer_amount: buyerAmount }) }
  return post(link, { path: pathTo(paths.resolveJob, id), body }, (answer) => readJob(fields(answer)))
}
