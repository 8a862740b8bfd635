import type { FetchedJob } from '../cli/nouns/jobs/jobs.ts'
import { isId } from '../client/wire-id.ts'
import { AppError } from '../core/error.ts'
import { type ProviderLine, readPage } from './follow.ts'

const PAGE_ROWS = 100
/** Most jobs that are looked through for those that wait. */
const WAITING_JOBS_MAX = 100_000

type Orders = {
  readonly line: ProviderLine
  readonly services: ReadonlySet<string>
  readonly signal: AbortSignal
  /** Processes waiting jobs only, then ends. */
  readonly once: boolean
}

/**
 * Jobs to do, each once, oldest first: those that wait, then those that come. It begins with the state and not with a
 * cursor, so that nothing is needed from an earlier run; the cursor from before that look brings what came meanwhile.
 */
export async function* ordersOf(orders: Orders): AsyncGenerator<string> {
  const seen = new Set<string>()
  for await (const { service_id, job_id } of sentJobs(orders)) {
    // What is no id could lead anywhere as a path, or into the environment of the work.
    if (!orders.services.has(service_id) || seen.has(job_id) || !isId('job', job_id)) continue
    seen.add(job_id)
    yield job_id
  }
}

type Sent = { readonly service_id: string; readonly job_id: string }

async function* sentJobs({ line, signal, once }: Orders): AsyncGenerator<Sent> {
  while (!signal.aborted) {
    const { next_cursor } = await line.insist((session) => readPage(session, { cursor: 'latest' }))
    yield* await waiting(line)
    if (once) return
    yield* comingJobs({ line, signal }, next_cursor)
  }
}

/** Ends when it was away for longer than events are kept: then the state has to tell what waits. */
async function* comingJobs({ line, signal }: Pick<Orders, 'line' | 'signal'>, from: string): AsyncGenerator<Sent> {
  for (let cursor = from; !signal.aborted; ) {
    const reading = { cursor, types: 'job.dispatched', wait: true }
    const page = await line.nextPage(reading).catch(isTooOld)
    // An instance that never knows its own cursor must not be asked without a pause either.
    if (page === undefined) return line.pause()
    // A buyer's own event does not say what was asked for.
    for (const { data, subject } of page.events) {
      if ('brief' in data) yield { service_id: String(data.service_id), job_id: subject.id }
    }
    cursor = page.next_cursor
  }
}

function isTooOld(error: unknown): undefined {
  if (!(error instanceof AppError) || error.details?.[0]?.path !== 'cursor') throw error
}

async function waiting(line: ProviderLine): Promise<readonly FetchedJob[]> {
  const found: FetchedJob[] = []
  for (const status of ['in_progress', 'dispatched'] as const) {
    for (let offset = 0; ; offset += PAGE_ROWS) {
      const { jobs, total } = await line.insist(async (session) =>
        session.call('listJobs', {
          query: { role: 'provider', status, limit: String(PAGE_ROWS), offset: String(offset) },
        }),
      )
      found.push(...jobs)
      if (offset + jobs.length >= total || jobs.length === 0 || offset >= WAITING_JOBS_MAX) break
    }
  }
  return found.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))
}
