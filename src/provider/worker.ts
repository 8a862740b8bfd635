import type { z } from 'zod'
import type { JobUpdate } from '../api/sections/jobs.ts'
import type { FetchedJob } from '../cli/nouns/jobs/jobs.ts'
import type { Session } from '../cli/session.ts'
import { wireId } from '../client/wire-id.ts'
import { AppError } from '../core/error.ts'
import { isObject, type Json } from '../core/json.ts'
import { MAX_TEXT_CHARS } from '../core/limits.ts'
import { checkStill, Undeliverable } from './delivered-files.ts'
import type { ProviderLine } from './follow.ts'
import { attempt, type JobOutcome, type Work } from './run-job.ts'

const MAX_PROGRESS_CHARS = 100
const BAD_REQUEST = 400
const CONFLICT = 409
const OPEN: readonly string[] = ['dispatched', 'in_progress']
const DELIVERED: readonly string[] = ['completed', 'verified', 'released', 'disputed']

type Facts =
  | { readonly event: 'started'; readonly service_id: string; readonly attempt: number }
  | {
      readonly event: 'delivered'
      readonly exit: number
      readonly ms: number
      readonly bytes: number
      /** Provider's net. */
      readonly net: string
    }
  | { readonly event: 'failed'; readonly exit: number | null; readonly ms: number; readonly reason: string }
  | { readonly event: 'retry'; readonly exit: number | null; readonly wait_ms: number; readonly reason: string }
  /** The job needs no more work: it was cancelled, has expired, or was done by another process. */
  | { readonly event: 'over'; readonly status: string }

export type WorkerNotice = Facts & { readonly at: string; readonly job_id: string }

export type Trade = {
  readonly line: ProviderLine
  readonly work: Omit<Work, 'onProgress' | 'onLog'>
  /** Maximum number of retries. The delay is `retryMs` before the first retry, and doubles with each further one. */
  readonly retries: number
  readonly retryMs: number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** No retry starts after this signal. */
  readonly stop: AbortSignal
  readonly say: (said: WorkerNotice) => void
  readonly log: (line: string) => void
}

/** Does one job. While the daemon is unreachable, waits before it reports. */
export async function doJob(trade: Trade, id: string): Promise<void> {
  const { now } = trade.work
  const say = (facts: Facts) => trade.say({ ...facts, at: new Date(now()).toISOString(), job_id: id })
  for (let tries = 1; !trade.stop.aborted || tries === 1; tries += 1) {
    const job = await readJob(trade.line, id)
    if (!OPEN.includes(job.status)) return say({ event: 'over', status: job.status })
    say({ event: 'started', service_id: job.service_id, attempt: tries })
    const startedAt = now()
    const ending = await oneTry(trade, job)
    const last = await conclude(trade, { job, ending, tries, ms: now() - startedAt })
    say(last)
    if (last.event !== 'retry') return
    await trade.sleep(last.wait_ms, trade.stop)
  }
}

type Concluding = { readonly job: FetchedJob; readonly ending: Ending; readonly tries: number; readonly ms: number }

/** Turns the result of an attempt into a notice. If there will be no retry, reports the failure to the instance. */
async function conclude(trade: Trade, { job, ending, tries, ms }: Concluding): Promise<Facts> {
  if (ending.kind === 'over') return { event: 'over', status: ending.status }
  if (ending.kind === 'done') {
    return { event: 'delivered', exit: ending.exit, ms, bytes: ending.bytes, net: job.provider_amount ?? '' }
  }
  const { exit, reason } = ending
  if (ending.kind === 'later' && tries <= trade.retries) {
    return { event: 'retry', exit, wait_ms: trade.retryMs * 2 ** (tries - 1), reason }
  }
  const notes = reason.slice(0, MAX_TEXT_CHARS)
  await report(trade.line, job.job_id, { status: 'failed', notes }).catch(overIsFalse)
  return { event: 'failed', exit, ms, reason }
}

type Ending = JobOutcome | { readonly kind: 'over'; readonly status: string }

async function oneTry(trade: Trade, job: FetchedJob): Promise<Ending> {
  const { line, work, log } = trade
  const started = await report(line, job.job_id, { status: 'in_progress' }).then(() => true, overIsFalse)
  if (!started) return { kind: 'over', status: (await readJob(line, job.job_id)).status }
  const progress = createProgress(trade, job.job_id)
  const outcome = await attempt(job, { ...work, onProgress: progress.tell, onLog: log })
  await progress.told()
  return outcome.kind === 'done' ? deliver(line, job, outcome) : outcome
}

type Done = Extract<JobOutcome, { kind: 'done' }>

/** Delivers the result. After a conflict, checks whether it was delivered: the earlier response may be lost. */
async function deliver(line: ProviderLine, job: FetchedJob, done: Done): Promise<Ending> {
  const id = job.job_id
  try {
    const deliverables = done.left ? await sendFiles(line, job, done) : done.deliverable
    await report(line, id, { status: 'completed', deliverables })
    return done
  } catch (error) {
    if (error instanceof Undeliverable) return { kind: 'failed', exit: done.exit, reason: error.message }
    if (!(error instanceof AppError)) throw error
    if (error.status === BAD_REQUEST) return { kind: 'later', exit: done.exit, reason: error.message }
    if (error.status !== CONFLICT) throw error
    const { status } = await readJob(line, id)
    return DELIVERED.includes(status) ? done : { kind: 'over', status }
  }
}

/** Uploads files to the job's conversation. @returns a deliverable that names them @throws Undeliverable, AppError */
async function sendFiles(line: ProviderLine, job: FetchedJob, { deliverable, left }: Done): Promise<Json> {
  const thread = wireId('thread', job.thread_id)
  const files: Json[] = []
  for (const file of left?.files ?? []) {
    if (left !== undefined) checkStill(left.folder, file)
    const sent = await line.insist((session) =>
      session.call('uploadThreadFile', { params: { id: thread }, body: {}, file: { path: file.path } }),
    )
    const { file_id, size_bytes, sha256, download_url } = sent
    files.push({ name: file.name, file_id, size_bytes, sha256, download_url })
  }
  return { ...(isObject(deliverable) ? deliverable : {}), files }
}

function overIsFalse(error: unknown): false {
  if (error instanceof AppError && error.status === CONFLICT) return false
  throw error
}

/** Sends progress to the instance. While one report is sent, only the latest waits. A lost report does not matter. */
function createProgress({ line, log }: Trade, id: string) {
  let next: string | undefined
  let sending = Promise.resolve()
  const send = async () => {
    const progress = next?.slice(0, MAX_PROGRESS_CHARS)
    next = undefined
    if (progress === undefined) return
    const body = { status: 'in_progress', progress } as const
    await update(line.session(), id, body).catch((error: unknown) => log(`progress was not sent: ${String(error)}`))
  }
  return {
    tell(text: string) {
      next = text
      sending = sending.then(send)
    },
    told: () => sending,
  }
}

function readJob(line: ProviderLine, id: string): Promise<FetchedJob> {
  return line.insist(async (session) => session.call('getJob', { params: { id }, headers: await session.ownHeaders() }))
}

type Update = z.input<typeof JobUpdate>

async function update(session: Session, id: string, body: Update): Promise<void> {
  await session.call('updateJob', { params: { id }, body })
}

function report(line: ProviderLine, id: string, body: Update): Promise<void> {
  return line.insist((session) => update(session, id, body))
}
