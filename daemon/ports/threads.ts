import { Worker } from 'node:worker_threads'
import { AppError, type ErrorFacts } from '../../src/core/error.ts'
import { compact } from '../../src/core/record.ts'
import { fairQueue } from './fair-queue.ts'

/** Why a task came to nothing. `busy`: it was never begun. */
export type ThreadFailure = 'busy' | 'timeout' | 'memory' | 'crashed' | 'aborted'

export class ThreadError extends Error {
  override readonly name = 'ThreadError'
  readonly failure: ThreadFailure

  constructor(failure: ThreadFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

export type PoolLimits = {
  /** Threads at most. One starts when there is work for it, and ends when it has had none for `idleMs`. */
  readonly size: number
  /** Tasks that wait, over all lanes. */
  readonly maxWaiting: number
  /** Longest run of one task, in wall time from its begin. */
  readonly deadlineMs: number
  /**
   * Heap of one thread. A task that needs more ends with its thread, as a rule with nothing else; but where a builtin
   * of the engine runs over it in one go, such as JSON.parse, the whole process ends. So tasks bound what they read,
   * and this stays well above what they can need.
   */
  readonly maxHeapMb: number
  readonly idleMs: number
}

export type Task = {
  readonly name: string
  /** Copied to the thread (structured clone). */
  readonly args: readonly unknown[]
  /** Whose work it is: everyone's takes turns with everyone else's. */
  readonly who: string
  readonly signal?: AbortSignal | undefined
  /** Told how long a thread worked on it, however that ended. */
  readonly onRan?: ((ms: number) => void) | undefined
}

/** Threads that run named tasks, each bounded in time and memory; whatever happens to one, the next task gets another. */
export type ThreadPool = {
  /** @throws ThreadError, or the AppError that the task threw. */
  readonly run: (task: Task) => Promise<unknown>
  /** Ends every thread; what is under way or waits fails as aborted. */
  readonly close: () => Promise<void>
}

/** What a thread is asked. */
export type ThreadCall = { readonly name: string; readonly args: readonly unknown[] }
/** That there is nothing more to do: the thread ends by itself. */
export type ThreadEnd = { readonly end: true }
/** What it says: that it is ready to be asked, and then one answer to each question. */
export type ThreadReply =
  | { readonly ready: true }
  | { readonly value: unknown }
  | { readonly refusal: Refusal }
  | { readonly failure: string }

type Refusal = { readonly code: AppError['code']; readonly message: string; readonly facts: ErrorFacts }

/** An error of a task as it crosses to the thread that asked. */
export function saidOf(error: unknown): ThreadReply {
  if (!(error instanceof AppError)) return { failure: error instanceof Error ? (error.stack ?? '') : String(error) }
  const { code, message, details, retryAfter, extra } = error
  const facts = {
    ...compact({ details, retryAfter }),
    extra: extra as NonNullable<ErrorFacts['extra']>, // made by the same constructor
  }
  return { refusal: { code, message, facts } }
}

/** Loading its modules takes a thread a fraction of this, even on a busy machine. */
const START_DEADLINE_MS = 60_000
/** How long a thread with nothing to do may take to end by itself, its start included. */
const END_GRACE_MS = 5_000
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY'

type Waiting = Task & { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }
type Thread = {
  readonly worker: Worker
  task: Waiting | undefined
  /** When it began with its task, by the monotonic clock. */
  since: number
  isReady: boolean
  timer: NodeJS.Timeout | undefined
}

/** @param file path of the thread's module, which answers by `serveTasks`. */
export function openThreadPool(file: string, limits: PoolLimits): ThreadPool {
  const waiting = fairQueue<Waiting>(limits.maxWaiting)
  const { threads, pump, end, close } = openThreads({ file, limits, next: waiting.shift, size: waiting.size })
  let isClosed = false

  function giveUp(task: Waiting): void {
    const why = new ThreadError('aborted', `${task.name} was given up`)
    if (waiting.remove(task.who, task)) task.reject(why)
    for (const thread of threads) if (thread.task === task) end(thread, why)
  }

  return {
    run: ({ signal, ...asked }) => {
      if (isClosed || signal?.aborted) return Promise.reject(new ThreadError('aborted', `${asked.name} was given up`))
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const task: Waiting = { ...asked, resolve, reject }
      const onAbort = () => giveUp(task)
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.push(task.who, task)?.reject(new ThreadError('busy', 'too much waits for its turn'))
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

type Parts = {
  readonly file: string
  readonly limits: PoolLimits
  readonly next: () => Waiting | undefined
  /** Of what waits. */
  readonly size: () => number
}

function openThreads({ file, limits, next, size }: Parts) {
  const threads = new Set<Thread>()

  /** Gives whoever is free something to do, and starts a thread for what is left. */
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
    const late = new ThreadError('timeout', `${task.name} was not done within ${limits.deadlineMs} ms`)
    worker.ref()
    thread.since = performance.now()
    thread.timer = setTimeout(() => end(thread, late), limits.deadlineMs)
    worker.postMessage({ name: task.name, args: task.args } satisfies ThreadCall)
  }

  function start(): void {
    threads.add(startThread({ file, limits }, { hear, end }))
  }

  function hear(thread: Thread, said: ThreadReply): void {
    if (!threads.has(thread)) return
    const { task } = thread
    tellRan(thread)
    if ('ready' in said) thread.isReady = true
    else if ('value' in said) task?.resolve(said.value)
    else task?.reject('refusal' in said ? revived(said.refusal) : new Error(said.failure))
    begin(thread)
    pump()
  }

  /** A thread that ends takes its task with it; one that never started takes the next, or nothing would tell of it. */
  function end(thread: Thread, why?: ThreadError): void {
    if (!threads.delete(thread)) return
    clearTimeout(thread.timer)
    tellRan(thread)
    if (why) (thread.task ?? (thread.isReady ? undefined : next()))?.reject(why)
    if (thread.task) kill(thread)
    else leave(thread)
    pump()
  }

  return { threads, pump, end, close: (why: ThreadError) => endAll([...threads], (thread) => end(thread, why)) }
}

function tellRan({ task, since }: Thread): void {
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

function kill({ worker }: Thread): void {
  worker.terminate().catch(() => undefined) // it is gone then
}

/**
 * Lets a thread with nothing to do end by itself, once it has started: ending one from outside, while others start, has
 * brought down the whole process (https://github.com/nodejs/node/issues/56312).
 */
function leave(thread: Thread): void {
  thread.worker.postMessage({ end: true } satisfies ThreadEnd)
  thread.timer = setTimeout(() => kill(thread), END_GRACE_MS).unref()
}

type Heard = {
  readonly hear: (thread: Thread, said: ThreadReply) => void
  readonly end: (thread: Thread, why: ThreadError) => void
}

function startThread({ file, limits }: Pick<Parts, 'file' | 'limits'>, { hear, end }: Heard): Thread {
  const worker = new Worker(file, { env: {}, resourceLimits: { maxOldGenerationSizeMb: limits.maxHeapMb } })
  const thread: Thread = { worker, task: undefined, since: 0, isReady: false, timer: undefined }
  const late = new ThreadError('crashed', 'a thread did not start')
  thread.timer = setTimeout(() => end(thread, late), START_DEADLINE_MS)
  worker.on('message', (said: ThreadReply) => hear(thread, said))
  worker.on('error', (error) => end(thread, lost(error)))
  worker.on('exit', () => {
    clearTimeout(thread.timer)
    end(thread, new ThreadError('crashed', 'a thread ended by itself'))
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

function revived({ code, message, facts }: Refusal): AppError {
  return new AppError(code, message, facts)
}
