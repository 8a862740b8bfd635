import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { AppError, type ErrorFacts, WorkError } from '../../src/core/error.ts'
import { compact } from '../../src/core/record.ts'
import { fairQueue } from './fair-queue.ts'

// V8 13 compiles functions that WebAssembly calls often. If two threads compile at the same time, the process may end
// (`Check failed: jit_page.has_value()`). Without this compilation such calls are only slower.
if (process.versions.v8.startsWith('13.')) setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`)

/** Why a task failed. `busy`: it never started. */
export type ThreadFailure = 'busy' | 'timeout' | 'memory' | 'crashed' | 'aborted'

export class ThreadError extends WorkError<ThreadFailure> {
  override readonly name = 'ThreadError'
}

export type PoolLimits = {
  /** Maximum number of worker threads. They start on demand and end after `idleMs` without work. */
  readonly size: number
  /** Maximum number of waiting tasks, in all lanes together. */
  readonly maxWaiting: number
  /** Time of the processor that a task may take. A busy machine takes none of it away. */
  readonly deadlineMs: number
  /**
   * Heap limit of a thread. A thread that exceeds it ends. If it exceeds the limit within a built-in such as
   * `JSON.parse`, the whole process ends. So tasks limit their input, and this limit is well above their needs.
   */
  readonly maxHeapMb: number
  readonly idleMs: number
  /** `workerData` of each thread. */
  readonly data?: unknown
}

export type Task = {
  readonly name: string
  /** Copied by structured clone. */
  readonly args: readonly unknown[]
  /** Caller id; waiting callers take turns. */
  readonly who: string
  readonly signal?: AbortSignal | undefined
  /** Called with the time that the task ran on its thread, even if the task failed. */
  readonly onRan?: ((ms: number) => void) | undefined
}

/** Worker threads for named tasks, with time and memory limits. A failed thread is replaced. */
export type ThreadPool = {
  /** @throws ThreadError if a task could not run or finish; the AppError that it threw; Error for other failures */
  readonly run: (task: Task) => Promise<unknown>
  /** Ends all threads; unfinished tasks fail as `aborted`. */
  readonly close: () => Promise<void>
}

export type ThreadCall = { readonly name: string; readonly args: readonly unknown[] }
/** Tells a worker thread that there are no more tasks, so that it exits. */
export type ThreadEnd = { readonly end: true }
/** Messages from a worker thread: first ready, then one reply per task. */
export type ThreadReply = { readonly ready: true } | TaskReply
export type TaskReply = { readonly value: unknown } | { readonly refusal: Refusal } | { readonly failure: string }

type Refusal = { readonly code: AppError['code']; readonly message: string; readonly facts: ErrorFacts }

/** Serialises a task's error. */
export function saidOf(error: unknown): TaskReply {
  if (!(error instanceof AppError)) return { failure: error instanceof Error ? (error.stack ?? '') : String(error) }
  const { code, message, details, retryAfter, extra } = error
  const facts = {
    ...compact({ details, retryAfter }),
    extra: extra as NonNullable<ErrorFacts['extra']>, // made by the same constructor
  }
  return { refusal: { code, message, facts } }
}

/** Time limit for the start of a worker thread, far above the loading time on a busy machine. */
const START_DEADLINE_MS = 60_000
/** Longest wait for an idle worker thread to exit. Such a thread may still be starting. */
const END_GRACE_MS = 5_000
const MICROS_PER_MS = 1_000
/** A task that waits ends after this multiple of its deadline, however little of the processor it took. */
const MAX_WALL_FACTOR = 10
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY'

export type WaitingTask = Task & {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}
type Thread = {
  readonly worker: Worker
  task: WaitingTask | undefined
  /** Start of the thread's current task (`performance.now`). */
  since: number
  isReady: boolean
  timer: NodeJS.Timeout | undefined
}

/** @param file - the module that each worker thread runs; it calls `serveTasks` */
export function openThreadPool(file: string, limits: PoolLimits): ThreadPool {
  const waiting = fairQueue<WaitingTask>(limits.maxWaiting)
  const { threads, pump, end, close } = openThreads({ file, limits, next: waiting.shift, size: waiting.size })
  let isClosed = false

  function giveUp(task: WaitingTask): void {
    const why = new ThreadError('aborted', `${task.name} was cancelled`)
    if (waiting.remove(task.who, task)) task.reject(why)
    for (const thread of threads) if (thread.task === task) end(thread, why)
  }

  return {
    run: ({ signal, ...asked }) => {
      if (isClosed || signal?.aborted) return Promise.reject(new ThreadError('aborted', `${asked.name} was cancelled`))
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const task: WaitingTask = { ...asked, resolve, reject }
      const onAbort = () => giveUp(task)
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.push(task.who, task)?.reject(new ThreadError('busy', 'too many tasks are waiting'))
      pump()
      return promise.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    close: () => {
      isClosed = true
      const why = new ThreadError('aborted', 'the threads are closed')
      for (let task = waiting.shift(); task; task = waiting.shift()) task.reject(why)
      return close(why)
    },
  }
}

type ThreadsOptions = {
  readonly file: string
  readonly limits: PoolLimits
  readonly next: () => WaitingTask | undefined
  /** Waiting tasks. */
  readonly size: () => number
}

function openThreads({ file, limits, next, size }: ThreadsOptions) {
  const threads = new Set<Thread>()

  /** Assigns tasks to free threads. Starts another thread if tasks remain. */
  function pump(): void {
    for (const thread of threads) if (thread.isReady && !thread.task && size() > 0) begin(thread)
    const starting = [...threads].filter(({ isReady }) => !isReady).length
    if (size() > starting && threads.size < limits.size) start()
  }

  function begin(thread: Thread): void {
    const { worker } = thread
    clearTimeout(thread.timer)
    const task = next()
    thread.task = task
    if (!task) {
      worker.unref()
      thread.timer = setTimeout(() => end(thread), limits.idleMs).unref()
      return
    }
    worker.ref()
    thread.since = performance.now()
    limitTime({ thread, task, deadlineMs: limits.deadlineMs }, (late) => end(thread, late))
    worker.postMessage({ name: task.name, args: task.args } satisfies ThreadCall)
  }

  function start(): void {
    threads.add(startThread({ file, limits }, { hear, end }))
  }

  function hear(thread: Thread, said: ThreadReply): void {
    if (!threads.has(thread)) return
    const { task } = thread
    reportRan(thread)
    if ('ready' in said) thread.isReady = true
    else if (task) settleTask(task, said)
    begin(thread)
    pump()
  }

  /** Ends a thread and fails its task. If the thread never started, a waiting task fails, to report the error. */
  function end(thread: Thread, why?: ThreadError): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.timer)
    reportRan(thread)
    if (why) (thread.task ?? (thread.isReady ? undefined : next()))?.reject(why)
    if (thread.task) void thread.worker.terminate()
    else void endThread(thread.worker)
    pump()
  }

  return { threads, pump, end, close: (why: ThreadError) => endAll([...threads], (thread) => end(thread, why)) }
}

type TimedTask = { readonly thread: Thread; readonly task: WaitingTask; readonly deadlineMs: number }

/** Ends a task that used up its time of the processor, and looks again later at one that has some left. */
function limitTime({ thread, task, deadlineMs }: TimedTask, end: (late: ThreadError) => void): void {
  const { worker, since } = thread
  const before = processorMs(worker)
  const arm = (ms: number): void => {
    thread.timer = setTimeout(() => void look(), ms)
  }
  async function look(): Promise<void> {
    const unanswered = sleep(deadlineMs, 0, { ref: false })
    const usedMs = (await Promise.race([processorMs(worker), unanswered])) - (await before)
    if (thread.task !== task) return
    const isLate = usedMs >= deadlineMs || performance.now() - since >= MAX_WALL_FACTOR * deadlineMs
    if (isLate) end(new ThreadError('timeout', `${task.name} did not finish within ${deadlineMs} ms`))
    else arm(deadlineMs - Math.max(0, usedMs))
  }
  arm(deadlineMs)
}

/** Time of the processor that a thread took so far; 0 for one that ended. */
async function processorMs(worker: Worker): Promise<number> {
  const used = await worker.cpuUsage().catch(() => undefined) // it ended, and says so itself
  return used === undefined ? 0 : (used.user + used.system) / MICROS_PER_MS
}

function reportRan({ task, since }: Thread): void {
  task?.onRan?.(performance.now() - since)
}

async function endAll(threads: readonly Thread[], end: (thread: Thread) => void): Promise<void> {
  const ended = threads.map(({ worker }) => new Promise((resolve) => worker.once('exit', resolve)))
  for (const thread of threads) {
    thread.worker.ref()
    end(thread)
  }
  await Promise.all(ended)
}

/**
 * Lets an idle thread exit by itself. Terminating a thread while others start has crashed the process
 * (https://github.com/nodejs/node/issues/56312).
 */
export async function endThread(worker: Worker): Promise<void> {
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  worker.postMessage({ end: true } satisfies ThreadEnd)
  const late = setTimeout(() => worker.terminate(), END_GRACE_MS).unref()
  await ended
  clearTimeout(late)
}

type Heard = {
  readonly hear: (thread: Thread, said: ThreadReply) => void
  readonly end: (thread: Thread, why: ThreadError) => void
}

function startThread({ file, limits }: Pick<ThreadsOptions, 'file' | 'limits'>, { hear, end }: Heard): Thread {
  const resourceLimits = { maxOldGenerationSizeMb: limits.maxHeapMb }
  const worker = new Worker(file, { env: {}, resourceLimits, workerData: limits.data })
  const thread: Thread = { worker, task: undefined, since: 0, isReady: false, timer: undefined }
  const late = new ThreadError('crashed', 'a thread did not start')
  thread.timer = setTimeout(() => end(thread, late), START_DEADLINE_MS)
  worker.on('message', (said: ThreadReply) => hear(thread, said))
  worker.on('error', (error) => end(thread, lost(error)))
  worker.on('exit', () => {
    clearTimeout(thread.timer)
    end(thread, new ThreadError('crashed', 'a thread exited unexpectedly'))
  })
  return thread
}

function lost(error: unknown): ThreadError {
  const isMemory = error instanceof Error && 'code' in error && error.code === OUT_OF_MEMORY
  return new ThreadError(
    isMemory ? 'memory' : 'crashed',
    isMemory ? 'a thread ran out of memory' : String(error),
    error,
  )
}

export function settleTask({ resolve, reject }: WaitingTask, said: TaskReply): void {
  if ('value' in said) resolve(said.value)
  else reject('refusal' in said ? revived(said.refusal) : new Error(said.failure))
}

function revived({ code, message, facts }: Refusal): AppError {
  return new AppError(code, message, facts)
}
