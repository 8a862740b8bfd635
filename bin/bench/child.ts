import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'

const START_LIMIT_MS = 30_000
const STOP_LIMIT_MS = 10_000

/** What a measured server tells its parent when it listens, and what it is asked. */
export type Ready = { readonly url: string } & Readonly<Record<string, string>>
export type Question = 'cpu' | 'memory' | 'loop' | 'stop'
/** Milliseconds between two turns of the process's event loop since this was last asked. */
export type LoopDelay = { readonly p99: number; readonly most: number }

/** A server in a process of its own. */
export type Child = {
  readonly ready: Ready
  /** User and system time that the process has used so far, microseconds. */
  readonly cpuMicros: () => Promise<number>
  /** Bytes that the process has in memory. */
  readonly memory: () => Promise<number>
  readonly loop: () => Promise<LoopDelay>
  readonly stop: () => Promise<void>
}

/**
 * Forks a file of this folder that calls `serve`; it ends with its parent. `SOUK_BENCH_PROFILE=<file>` leaves a CPU
 * profile of it in the folder for temporary files.
 */
export async function launch(
  file: string,
  argument: unknown = null,
  variables: NodeJS.ProcessEnv = {},
): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(argument)], {
    env: { ...process.env, NODE_ENV: 'production', ...variables },
    execArgv: process.env.SOUK_BENCH_PROFILE === file ? ['--cpu-prof', `--cpu-prof-dir=${tmpdir()}`] : [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ready = (await answerOf(child, START_LIMIT_MS)) as Ready // the first message of `serve`
  const ask = (question: Question) => {
    child.send(question)
    return answerOf(child, STOP_LIMIT_MS)
  }
  return {
    ready,
    // What `serve` answers to each of them.
    cpuMicros: () => ask('cpu') as Promise<number>,
    memory: () => ask('memory') as Promise<number>,
    loop: () => ask('loop') as Promise<LoopDelay>,
    stop: () => stop(child),
  }
}

/** What a process says from time to time that works for long. */
export const GOING_ON = 'going on'

/** The next message of a process. @throws Error when it ends before, or at the limit */
export async function answerOf(child: ChildProcess, limitMs: number): Promise<unknown> {
  const wait = new AbortController()
  const signal = AbortSignal.any([wait.signal, AbortSignal.timeout(limitMs)])
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`a measured server ended with ${code}`)
    })
    const [message] = await Promise.race([once(child, 'message', { signal }), ended])
    return message
  } finally {
    wait.abort()
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
  child.send('stop' satisfies Question)
  await ended
  clearTimeout(timer)
}
