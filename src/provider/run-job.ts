import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FetchedJob } from '../cli/nouns/jobs/jobs.ts'
import { isObject, type Json, parseJson } from '../core/json.ts'
import { MAX_DELIVERABLE_BYTES } from '../core/limits.ts'
import { compact } from '../core/record.ts'
import { span } from '../text/text.ts'
import { folderFor, type LeftFile, leftIn, Undeliverable } from './delivered-files.ts'
import { type Ended, runProgram } from './run-program.ts'

/** Exit code with which the command asks to be run again later (EX_TEMPFAIL, sysexits.h). */
const TRY_LATER_EXIT = 75
const PROGRESS = /^progress: *(.+)$/

export const deliverForms = ['stdout-json', 'stdout-text'] as const

/** What is delivered: the output of the command, or files in a folder. Each job gets its own folder. */
export type DeliverForm = (typeof deliverForms)[number] | { readonly root: string }

export type LeftFiles = { readonly folder: string; readonly files: readonly LeftFile[] }

export type JobOutcome =
  | {
      readonly kind: 'done'
      readonly exit: number
      readonly deliverable: Json
      readonly bytes: number
      readonly left?: LeftFiles
    }
  | { readonly kind: 'later' | 'failed'; readonly exit: number | null; readonly reason: string }

export type Work = {
  readonly line: string
  readonly shell: boolean
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly deliver: DeliverForm
  /** Time limit of an attempt in milliseconds. The job's deadline limits it too. */
  readonly timeoutMs: number | undefined
  readonly tmpDir: string
  readonly now: () => number
  readonly onProgress: (text: string) => void
  readonly onLog: (line: string) => void
}

/** Runs the command once. It gets the input on stdin and in a file. @returns the outcome, with what to deliver */
export async function attempt(job: FetchedJob, work: Work): Promise<JobOutcome> {
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
