import type { jobFields } from '../../api/endpoint/list-fields.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { rulings } from '../../model/job.ts'
import type { Job } from '../../nouns/jobs.ts'
import { amongWords, type ListPage, pageOf } from '../shell/finding.ts'
import { ask, type glance } from '../shell/queries.ts'
import type { JobView } from '../shell/ui.ts'
import { type JobDetail, readBundle, readWhole } from './facts.ts'

export const JOBS_PAGE = 50
const MESSAGES = 100

const filterOf: Readonly<Record<JobView, string>> = {
  open: 'open:yes',
  late: 'open:yes late:yes',
  disputed: 'status:disputed',
  done: 'status:completed,verified,released',
  failed: 'status:failed,expired,cancelled,refunded',
  all: '',
}

export type Jobs = {
  readonly jobs: readonly Job[]
  /** Number of matching jobs on all pages. */
  readonly total: number
  /** How many jobs were searched, in words. Empty if all were. */
  readonly among: string
}

type Which = ListPage<typeof jobFields> & { readonly view: JobView; readonly admin: boolean }

/** Whether a view lists the worst jobs first. Views of ended jobs list the newest first. */
export function isWorstFirst(view: JobView): boolean {
  return view !== 'done' && view !== 'failed'
}

/** Fetches a page of a view, worst or newest first. Without the admin key, only own jobs. */
export const fetchJobs =
  (link: Link, { view, page, admin, asked }: Which) =>
  (signal: AbortSignal): Promise<Outcome<Jobs>> => {
    const query = pageOf(page, JOBS_PAGE)
    if (!admin) {
      return ask(link, { name: 'listJobs', asked: { query, signal } }, ({ jobs, total }) => ({
        jobs: jobs.filter((job) => isIn(view, job)),
        total,
        among: '',
      }))
    }
    const filter = [filterOf[view], asked.filter ?? ''].filter(Boolean).join(' ')
    const order = isWorstFirst(view) ? ({ sort: 'worst' } as const) : {}
    const wanted = { ...query, ...order, ...asked, ...(filter === '' ? {} : { filter }) }
    return ask(link, { name: 'listAllJobs', asked: { query: wanted, signal } }, ({ jobs, total, searched }) => ({
      jobs,
      total,
      among: amongWords(searched),
    }))
  }

/** Whether a job belongs to a view. The endpoint for own jobs cannot filter, so they are filtered here. */
function isIn(view: JobView, { status, escrow, late }: Job): boolean {
  if (view === 'all') return true
  if (view === 'late') return late === true
  if (view === 'disputed') return status === 'disputed'
  if (view === 'done') return ['completed', 'verified', 'released'].includes(status)
  if (view === 'failed') return ['failed', 'expired', 'cancelled', 'refunded'].includes(status)
  return escrow?.status === 'held' || ['created', 'dispatched', 'in_progress', 'disputed'].includes(status)
}

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
