import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FetchedJob } from '../cli/nouns/jobs/jobs.ts'
import { parseJson } from '../core/json.ts'
import { MAX_DELIVERABLE_BYTES } from '../core/limits.ts'
import { span } from '../text/text.ts'
import { type Ended, runProgram } from './run-program.ts'

/** The program asks for another try later (EX_TEMPFAIL of sysexits.h). */
const TRY_LATER_EXIT = 75
const PROGRESS = /^progress: *(.+)$/

export const deliverForms = ['stdout-json', 'stdout-text'] as const
type Json = string | number | boolean | null | Json[] | { [member: string]: Json }

/** What a try came to. */
export type JobOutcome =
  | { readonly kind: 'done'; readonly exit: number; readonly deliverable: Json; readonly bytes: number }
  | { readonly kind: 'later' | 'failed'; readonly exit: number | null; readonly reason: string }

export type Work = {
  readonly line: string
  readonly shell: boolean
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly deliver: (typeof deliverForms)[number]
  /** Longest that a try may take; the deadline of the job bounds it too. */
  readonly timeoutMs: number | undefined
  readonly tmpDir: string
  readonly now: () => number
  readonly onProgress: (text: string) => void
  readonly onLog: (line: string) => void
}

/** Runs the command for a job once: the input on stdin and in a file, what it prints is delivered. */
export async function attempt(job: FetchedJob, work: Work): Promise<JobOutcome> {
  const workdir = await mkdtemp(join(work.tmpDir, 'souk-job-'))
  try {
    const input = JSON.stringify(job.input ?? {})
    const jobFile = join(workdir, 'job.json')
    await writeFile(jobFile, input)
    const leftMs = job.deadline_at ? Date.parse(job.deadline_at) - work.now() : Number.POSITIVE_INFINITY
    const timeoutMs = Math.min(leftMs, work.timeoutMs ?? Number.POSITIVE_INFINITY)
    if (timeoutMs <= 0) return { kind: 'failed', exit: null, reason: 'its deadline has passed' }
    const ended = await runProgram({
      line: work.line,
      shell: work.shell,
      cwd: work.cwd,
      env: { ...work.env, ...jobEnv(job), SOUK_JOB_FILE: jobFile, SOUK_WORKDIR: workdir },
      stdin: `${input}\n`,
      maxStdoutBytes: MAX_DELIVERABLE_BYTES,
      timeoutMs: timerMs(timeoutMs),
      onStderrLine: (line) => {
        work.onLog(line)
        const [, progress] = PROGRESS.exec(line) ?? []
        if (progress !== undefined) work.onProgress(progress)
      },
    })
    return outcomeOf(ended, { deliver: work.deliver, timeoutMs })
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}

/** Longest that a timer can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1

function timerMs(ms: number): number | undefined {
  return ms > TIMER_MAX_MS ? undefined : ms
}

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
  if (code === TRY_LATER_EXIT) return { kind: 'later', exit: code, reason: lastWords || 'the command asks for later' }
  if (code !== 0) return { kind: 'failed', exit: code, reason: lastWords || `the command ended with ${code}` }
  const text = stdout.toString('utf8')
  if (deliver === 'stdout-text') return { kind: 'done', exit: 0, deliverable: { text }, bytes: stdout.length }
  try {
    return { kind: 'done', exit: 0, deliverable: parseJson(text), bytes: stdout.length }
  } catch {
    return { kind: 'failed', exit: 0, reason: 'what the command printed is not JSON' }
  }
}
