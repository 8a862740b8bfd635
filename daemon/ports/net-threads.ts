import { Worker } from 'node:worker_threads'
import { workerFile } from '../../src/core/folder.ts'
import { MINUTE_MS } from '../../src/core/time.ts'
import { fairQueue } from './fair-queue.ts'
import {
  endThread,
  settleTask,
  type Task,
  type TaskReply,
  type ThreadCall,
  type ThreadEnd,
  ThreadError,
  type ThreadPool,
  type WaitingTask,
} from './threads.ts'

/* TLS with other machines runs on worker threads, because verifying an untrusted certificate can block a thread. */

export type NetMessage = (ThreadCall & { readonly id: number }) | { readonly abort: number } | ThreadEnd
export type NetReply = { readonly id: number; readonly said: TaskReply }

/** The result of a task, or the known reason of its failure. */
export type TaskOutcome<T, F> = T | { readonly failure: F; readonly message: string }

const MAX_THREADS = 4
/** Tasks that each thread gets before another thread starts, so that few tasks wait behind a slow verification. */
const SPREAD = 8
/** Limit of tasks per thread. Further tasks wait, and hosts take turns. */
const MAX_AT_ONCE = 64
const MAX_WAITING = 1_000
const MAX_HEAP_MB = 256

type NetTask = WaitingTask & { readonly id: number; thread?: Thread }
type Thread = { readonly worker: Worker; readonly tasks: Map<number, NetTask>; idle: NodeJS.Timeout | undefined }

/** Worker threads that each run many tasks at once, since tasks mostly wait. The caller's signal limits their time. */
export function openNetThreads(): ThreadPool {
  const waiting = fairQueue<NetTask>(MAX_WAITING)
  const { threads, begin, done, end, withRoom } = openThreads(pump)
  let count = 0
  let isClosed = false

  function pump(): void {
    while (waiting.size() > 0) {
      const thread = withRoom()
      const task = thread && waiting.shift()
      if (!task) return
      begin(thread, task)
    }
  }

  function giveUp(task: NetTask): void {
    waiting.remove(task.who, task)
    task.thread?.worker.postMessage({ abort: task.id } satisfies NetMessage)
    if (task.thread) done(task.thread, task.id)
    task.reject(new ThreadError('aborted', `${task.name} was cancelled`))
  }

  async function run({ signal, ...asked }: Task): Promise<unknown> {
    if (isClosed || signal?.aborted) throw new ThreadError('aborted', `${asked.name} was cancelled`)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    count += 1
    const task: NetTask = { ...asked, id: count, resolve, reject }
    const onAbort = () => giveUp(task)
    signal?.addEventListener('abort', onAbort, { once: true })
    waiting.push(task.who, task)?.reject(new ThreadError('busy', 'too many tasks are waiting'))
    pump()
    return promise.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  return {
    run,
    close: async () => {
      isClosed = true
      for (let task = waiting.shift(); task; task = waiting.shift()) giveUp(task)
      for (const { worker, tasks } of threads) {
        for (const task of tasks.values()) giveUp(task)
        worker.ref()
      }
      await Promise.all([...threads].map(end))
    },
  }
}

/** @param onRoom called when a worker thread has room for another task */
function openThreads(onRoom: () => void) {
  const threads = new Set<Thread>()

  /** The worker thread with the fewest tasks. A blocked thread finishes none, so other threads get the next tasks. */
  function withRoom(): Thread | undefined {
    const [least] = [...threads].sort((one, other) => one.tasks.size - other.tasks.size)
    if ((least?.tasks.size ?? SPREAD) >= SPREAD && threads.size < MAX_THREADS) return start()
    return least && least.tasks.size < MAX_AT_ONCE ? least : undefined
  }

  function start(): Thread {
    const file = workerFile(import.meta.url, './tls/net')
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
    const thread: Thread = { worker, tasks: new Map(), idle: undefined }
    threads.add(thread)
    worker.on('message', ({ id, said }: NetReply) => {
      const task = thread.tasks.get(id)
      done(thread, id)
      if (task) settleTask(task, said)
    })
    worker.on('error', (error) => lose(thread, error))
    worker.on('exit', () => lose(thread))
    return thread
  }

  function begin(thread: Thread, task: NetTask): void {
    const { worker, tasks, idle } = thread
    task.thread = thread
    tasks.set(task.id, task)
    clearTimeout(idle)
    worker.ref()
    worker.postMessage({ id: task.id, name: task.name, args: task.args } satisfies NetMessage)
  }

  /** Removes an ended task. A thread without tasks does not keep the process alive, and exits after a minute. */
  function done(thread: Thread, id: number): void {
    if (thread.tasks.delete(id) && thread.tasks.size === 0) {
      thread.worker.unref()
      thread.idle = setTimeout(() => void end(thread), MINUTE_MS).unref()
    }
    onRoom()
  }

  function lose(thread: Thread, cause?: unknown): void {
    threads.delete(thread)
    clearTimeout(thread.idle)
    for (const task of thread.tasks.values())
      task.reject(new ThreadError('crashed', 'a thread exited unexpectedly', cause))
    thread.tasks.clear()
    onRoom()
  }

  function end(thread: Thread): Promise<void> {
    lose(thread)
    return endThread(thread.worker)
  }

  return { threads, begin, done, end, withRoom }
}
