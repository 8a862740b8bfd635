import { type ChildProcess, spawn } from 'node:child_process'
import { splitWords } from '../cli/split-words.ts'
import { errnoOf } from '../core/error.ts'
import { compact } from '../core/record.ts'

/** Milliseconds from SIGTERM to SIGKILL. */
const KILL_AFTER_MS = 5_000
/** Maximum number of stderr characters that are kept. */
const MAX_STDERR_CHARS = 64 * 1024

export type ProviderProgram = {
  /** The command line as typed, which is split into words or run by a shell; or its words. */
  readonly line: string | readonly [string, ...string[]]
  readonly shell: boolean
  readonly cwd?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: string
  readonly maxStdoutBytes: number
  readonly timeoutMs?: number | undefined
  /** Ends the program. */
  readonly signal?: AbortSignal
  readonly onStderrLine?: (line: string) => void
}

export type Ended = {
  /** Exit code; null if the program was ended by a signal or did not start. */
  readonly code: number | null
  readonly stdout: Buffer
  /** Last nonempty stderr line. */
  readonly lastWords: string
  /** Why the program was killed; undefined if it was not. */
  readonly cut: 'timeout' | 'too_large' | 'stopped' | undefined
  /** Why the program could not start; undefined if it did. */
  readonly failure: string | undefined
}

const running = new Set<ChildProcess>()
let isWatching = false

/**
 * Runs a program in a process group of its own, which gets no ctrl-c and is killed as a whole. The input never becomes
 * part of the command line.
 */
export async function runProgram(program: ProviderProgram): Promise<Ended> {
  const child = start(program)
  const closed = Promise.withResolvers<number | null>()
  let failure: string | undefined
  let cut: Ended['cut']
  child.once('error', (error) => {
    failure = error.message
    closed.resolve(null)
  })
  child.once('close', (code) => closed.resolve(code))
  let forced: NodeJS.Timeout | undefined
  const stop = (why: Ended['cut']) => {
    if (cut) return
    cut = why
    signalGroup(child, 'SIGTERM')
    forced = setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS)
  }
  const timer = program.timeoutMs === undefined ? undefined : setTimeout(() => stop('timeout'), program.timeoutMs)
  const onAbort = () => stop('stopped')
  program.signal?.addEventListener('abort', onAbort)
  if (program.signal?.aborted) onAbort()
  const stdout = collect(child, { maxBytes: program.maxStdoutBytes, onFull: () => stop('too_large') })
  const stderr = readLines(child, program.onStderrLine ?? (() => undefined))
  child.stdin?.on('error', () => undefined) // it need not read its input
  child.stdin?.end(program.stdin)
  const code = await closed.promise
  clearTimeout(timer)
  clearTimeout(forced)
  program.signal?.removeEventListener('abort', onAbort)
  // Whoever may end the program also ends what it left in the background.
  if (program.signal !== undefined) signalGroup(child, 'SIGKILL')
  running.delete(child)
  return { code, stdout: stdout(), lastWords: stderr(), cut, failure }
}

function start({ line, shell, cwd, env }: ProviderProgram): ChildProcess {
  const typed = () => (shell ? (['/bin/sh', '-c', String(line)] as const) : splitWords(String(line)))
  const [program, ...words] = typeof line === 'string' ? typed() : line
  const child = spawn(program, words, { detached: true, env, ...compact({ cwd }) })
  running.add(child)
  if (!isWatching) process.once('exit', endAll)
  isWatching = true
  return child
}

/** Kills all running programs. Called when this process exits. */
export function endAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL')
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error // gone meanwhile
  }
}

function collect(child: ChildProcess, { maxBytes, onFull }: { maxBytes: number; onFull: () => void }): () => Buffer {
  const parts: Buffer[] = []
  let total = 0
  child.stdout?.on('data', (part: Buffer) => {
    total += part.length
    if (total <= maxBytes) parts.push(part)
    else onFull()
  })
  return () => Buffer.concat(parts)
}

/** Calls `onLine` for each line on stderr. @returns a function that returns the last nonempty line */
function readLines(child: ChildProcess, onLine: (line: string) => void): () => string {
  let rest = ''
  let last = ''
  const take = (line: string) => {
    if (line.trim() === '') return
    last = line.trim()
    onLine(last)
  }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).slice(-MAX_STDERR_CHARS).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(take)
  })
  return () => {
    take(rest)
    rest = ''
    return last
  }
}
