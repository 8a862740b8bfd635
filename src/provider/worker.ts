import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import type { JobUpdate } from '../api/sections/jobs.ts'
import type { FetchedJob } from '../cli/nouns/jobs/jobs.ts'
import type { Session } from '../cli/session.ts'
import { wireId } from '../client/wire-id.ts'
import { AppError } from '../core/error.ts'
import { isObject, type Json, parseJson } from '../core/json.ts'
import { MAX_DELIVERABLE_BYTES, MAX_TEXT_CHARS } from '../core/limits.ts'
import { compact } from '../core/record.ts'
import { span } from '../text/text.ts'
import { checkStill, folderFor, type LeftFile, leftIn, Undeliverable } from './delivered-files.ts'
import type { ProviderLine } from './follow.ts'
import { type Ended, runProgram } from './run-program.ts'

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

/** Exit code with which the command asks to be run again later (EX_TEMPFAIL, sysexits.h). */
const TRY_LATER_EXIT = 75
const PROGRESS = /^progress: *(.+)$/

export const deliverForms = ['stdout-json', 'stdout-text'] as const

/** What is delivered: the output of the command, or files in a folder. Each job gets its own folder. */
export type DeliverForm = (typeof deliverForms)[number] | { readonly root: string }

type JobOutcome =
  | {
      readonly kind: 'done'
      readonly exit: number
      readonly deliverable: Json
      readonly bytes: number
      readonly left?: { readonly folder: string; readonly files: readonly LeftFile[] }
    }
  | { readonly kind: 'later' | 'failed'; readonly exit: number | null; readonly reason: string }

export type ProgramLine = {
  readonly line: string
  readonly shell: boolean
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

type Work = ProgramLine & {
  readonly deliver: DeliverForm
  /** Time limit of an attempt in milliseconds. The job's deadline limits it too. */
  readonly timeoutMs: number | undefined
  readonly tmpDir: string
  readonly now: () => number
  readonly onProgress: (text: string) => void
  readonly onLog: (line: string) => void
}

/** Runs the command once. It gets the input on stdin and in a file. @returns the outcome, with what to deliver */
async function attempt(job: FetchedJob, work: Work): Promise<JobOutcome> {
  const workdir = await mkdtemp(join(work.tmpDir, 'souk-job-'))
  try {
    const input = JSON.stringify(job.input ?? {})
    const jobFile = join(workdir, 'job.json')
    await writeFile(jobFile, input)
    const leftMs = job.deadline_at ? Date.parse(job.deadline_at) - work.now() : Number.POSITIVE_INFINITY
    const timeoutMs = Math.min(leftMs, work.timeoutMs ?? Number.POSITIVE_INFINITY)
    if (timeoutMs <= 0) return { kind: 'failed', exit: null, reason: 'its deadline has passed' }
    const folder = typeof work.deliver === 'object' ? folderFor(work.deliver.root, job.job_id) : undefined
    const ended = await runProgram({
      line: work.line,
      shell: work.shell,
      cwd: work.cwd,
      env: {
        ...work.env,
        ...jobEnv(job),
        SOUK_JOB_FILE: jobFile,
        SOUK_WORKDIR: workdir,
        ...compact({ SOUK_DELIVER_DIR: folder }),
      },
      stdin: `${input}\n`,
      maxStdoutBytes: MAX_DELIVERABLE_BYTES,
      timeoutMs: timeoutMs > TIMER_MAX_MS ? undefined : timeoutMs,
      onStderrLine: (line) => {
        work.onLog(line)
        const [, progress] = PROGRESS.exec(line) ?? []
        if (progress !== undefined) work.onProgress(progress)
      },
    })
    const outcome = outcomeOf(ended, { deliver: work.deliver, timeoutMs })
    return outcome.kind === 'done' && folder !== undefined ? withFiles(outcome, folder) : outcome
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}

/** Largest timer value. */
const TIMER_MAX_MS = 2 ** 31 - 1

function jobEnv({ job_id, service_id, buyer, deadline_at }: FetchedJob): Record<string, string> {
  return {
    SOUK_JOB_ID: job_id,
    SOUK_SERVICE_ID: service_id,
    SOUK_BUYER: buyer?.wallet ?? '',
    SOUK_DEADLINE: deadline_at ?? '',
  }
}

type Judging = { readonly deliver: Work['deliver']; readonly timeoutMs: number }

function outcomeOf({ code, stdout, lastWords, cut, failure }: Ended, { deliver, timeoutMs }: Judging): JobOutcome {
  if (failure !== undefined) return { kind: 'failed', exit: null, reason: `the command cannot be run: ${failure}` }
  if (cut === 'timeout') return { kind: 'failed', exit: code, reason: `it took longer than ${span(timeoutMs)}` }
  if (cut === 'too_large') {
    return { kind: 'failed', exit: code, reason: `it printed more than ${MAX_DELIVERABLE_BYTES} bytes` }
  }
  if (code === TRY_LATER_EXIT)
    return { kind: 'later', exit: code, reason: lastWords || 'the command asked to try again later' }
  if (code !== 0) return { kind: 'failed', exit: code, reason: lastWords || `the command exited with ${code}` }
  const text = stdout.toString('utf8')
  if (deliver === 'stdout-text') return { kind: 'done', exit: 0, deliverable: { text }, bytes: stdout.length }
  if (typeof deliver === 'object')
    return { kind: 'done', exit: 0, deliverable: besideFiles(text), bytes: stdout.length }
  try {
    return { kind: 'done', exit: 0, deliverable: parseJson(text), bytes: stdout.length }
  } catch {
    return { kind: 'failed', exit: 0, reason: 'the output of the command is not JSON' }
  }
}

/** What is delivered in addition to files: the members of the printed object, or other output as `text`. */
function besideFiles(text: string): Json {
  if (text.trim() === '') return {}
  try {
    const printed = parseJson(text)
    return isObject(printed) ? printed : { text }
  } catch {
    // The output need not be JSON if files are delivered.
    return { text }
  }
}

function withFiles(done: Extract<JobOutcome, { kind: 'done' }>, folder: string): JobOutcome {
  try {
    const files = leftIn(folder)
    if (files.length === 0) return { kind: 'failed', exit: 0, reason: 'it wrote no file to $SOUK_DELIVER_DIR' }
    const bytes = files.reduce((sum, file) => sum + file.bytes, done.bytes)
    return { ...done, bytes, left: { folder, files } }
  } catch (error) {
    if (error instanceof Undeliverable) return { kind: 'failed', exit: 0, reason: error.message }
    throw error
  }
}
