import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { AppError } from '../../../../src/core/error.ts'
import type { CatalogIndex } from './index.ts'

type Operation = keyof CatalogIndex

/** Calls operations of the catalog table, on this thread or on a worker thread. Operations run in call order. */
export type Backend = {
  readonly call: <Op extends Operation>(
    op: Op,
    ...args: Parameters<CatalogIndex[Op]>
  ) => Promise<ReturnType<CatalogIndex[Op]>>
  readonly close: () => Promise<void>
}

/** Messages to and from the worker thread. A reply has the `id` of its call. */
export type SearchCall = { readonly id: number; readonly op: Operation; readonly args: readonly unknown[] }
export type SearchReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: string; readonly unavailable: boolean }

export function perform(index: CatalogIndex, op: Operation, args: readonly unknown[]): unknown {
  // Cast, because a message loses the type that ties the arguments to the operation.
  const operation = index[op] as (...args: readonly unknown[]) => unknown
  return operation(...args)
}

export function onThisThread(index: CatalogIndex): Backend {
  return {
    call: async (op, ...args) => perform(index, op, args) as never, // the operation's own result
    close: async () => index.close(),
  }
}

/** Maximum time that the worker thread may take to exit after its table is closed. */
const END_GRACE_MS = 5_000

type Thread = {
  readonly ask: (op: Operation, args: readonly unknown[]) => Promise<never>
  readonly end: () => Promise<unknown>
}

/**
 * Runs the table in a worker thread, because ranking would block other requests. The thread starts with the first call,
 * restarts after a crash, and does not keep the process alive.
 */
export function onOwnThread(path: string): Backend {
  let thread: Thread | undefined
  return {
    call: (op, ...args) => {
      thread ??= startThread(path, (dead) => {
        if (thread === dead) thread = undefined
      })
      return thread.ask(op, args)
    },
    close: async () => {
      const closing = thread
      if (!closing) return
      await closing.ask('close', [])
      await closing.end()
    },
  }
}

/** Path of the worker file, which is next to this module in the sources and in the bundle. */
function workerFile(): string {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./catalog.worker.${suffix}`, import.meta.url))
}

type Waiting = { readonly resolve: (value: never) => void; readonly reject: (reason: unknown) => void }

function startThread(path: string, onDeath: (dead: Thread) => void): Thread {
  const worker = new Worker(workerFile(), { workerData: path })
  const exit = new Promise((resolve) => worker.once('exit', resolve))
  const waiting = new Map<number, Waiting>()
  let asked = 0
  const thread: Thread = {
    ask: (op, args) =>
      new Promise((resolve, reject) => {
        asked += 1
        waiting.set(asked, { resolve, reject })
        worker.ref()
        worker.postMessage({ id: asked, op, args } satisfies SearchCall)
      }),
    end: () => exited(worker, exit),
  }
  const died = (cause: unknown) => {
    onDeath(thread)
    for (const { reject } of waiting.values()) reject(stopped(cause))
    waiting.clear()
  }
  worker.on('message', (answer: SearchReply) => {
    const caller = waiting.get(answer.id)
    waiting.delete(answer.id)
    if (waiting.size === 0) worker.unref()
    if ('value' in answer)
      caller?.resolve(answer.value as never) // the operation's own result
    else caller?.reject(failed(answer))
  })
  worker.on('error', died)
  worker.on('exit', died)
  return thread
}

/** Waits until the closed worker exits. Terminating it while other workers start has crashed whole processes. */
async function exited(worker: Worker, exit: Promise<unknown>): Promise<void> {
  worker.ref()
  const late = setTimeout(() => worker.terminate(), END_GRACE_MS).unref()
  await exit
  clearTimeout(late)
}

function stopped(cause: unknown): AppError {
  return new AppError('unavailable', 'The catalog search stopped; try again.', { retryAfter: 1, cause })
}

function failed({ failure, unavailable }: { failure: string; unavailable: boolean }): Error {
  return unavailable ? new AppError('unavailable', failure) : new Error(failure)
}
