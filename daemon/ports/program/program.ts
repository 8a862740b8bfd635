import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { EngineStanding } from '../engine.ts'

/** Why a program gave nothing. `busy`: it was never begun; `refused`: it ended with an error, as a rule over its input. */
export type ProgramFailure = 'absent' | 'busy' | 'timeout' | 'aborted' | 'output' | 'refused'

export class ProgramError extends Error {
  override readonly name = 'ProgramError'
  readonly failure: ProgramFailure
  /** What it said on its way out, for the log. */
  readonly said: string

  constructor(failure: ProgramFailure, message: string, said = '') {
    super(message)
    this.failure = failure
    this.said = said
  }
}

export type ProgramRun = {
  readonly args: readonly string[]
  /** Written to its standard input; nothing otherwise. */
  readonly stdin?: string | Uint8Array
  /** Open file that it finds as its descriptor 3. */
  readonly descriptor?: number
  /** Of its standard output; more ends it. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

export type ProgramLimits = {
  readonly deadlineMs: number
  /** Address space, where the system can hold it to that. */
  readonly maxMemoryMb: number
  /** Running at the same time. */
  readonly atOnce: number
  readonly maxWaiting: number
}

/** A program of this machine that works on what strangers send. */
export type SystemProgram = {
  /** Its path; undefined where it is not installed. */
  readonly path: () => string | undefined
  /** @throws ProgramError */
  readonly run: (run: ProgramRun) => Promise<{ readonly stdout: Buffer; readonly stderr: string }>
}

const DEFAULT_LIMITS: ProgramLimits = { deadlineMs: 60 * SECOND_MS, maxMemoryMb: 1_024, atOnce: 2, maxWaiting: 32 }
const MAX_SAID_BYTES = 64 * 1024
const KB_A_MB = 1_024
/** `nobody` on every system of ours: what works on foreign data owns nothing. */
const NOBODY = 65_534
const isWindows = process.platform === 'win32'
const IS_ROOT = process.getuid?.() === 0

/**
 * Where a command is; undefined where it is not, or may not be run.
 * @param command a name that is looked for, or a path
 */
export function findProgram(command: string, path = process.env['PATH'] ?? ''): string | undefined {
  const names = isWindows ? [`${command}.exe`, command] : [command]
  const folders = isAbsolute(command) ? [''] : path.split(delimiter).filter(isAbsolute)
  return folders.flatMap((folder) => names.map((name) => (folder ? join(folder, name) : name))).find(canRun)
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** A program with a few seats, whoever asks for it. @param command looked for at each run, so that it may be installed later */
export function openProgram(
  command: string,
  change: Partial<ProgramLimits> & { readonly path?: string } = {},
): SystemProgram {
  const limits = { ...DEFAULT_LIMITS, ...change }
  const waiting: (() => void)[] = []
  let running = 0

  async function seat(): Promise<void> {
    if (running < limits.atOnce) {
      running += 1
      return
    }
    if (waiting.length >= limits.maxWaiting) throw new ProgramError('busy', `too much waits for ${command}`)
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }

  const path = () => findProgram(command, change.path)
  return {
    path,
    run: async (run) => {
      await seat()
      try {
        const file = path()
        if (file === undefined) throw new ProgramError('absent', `${command} is not installed`)
        if (run.signal?.aborted) throw new ProgramError('aborted', `${command} was given up`)
        return await ended(file, run, limits)
      } finally {
        leave()
      }
    },
  }
}

/** How a program stands, by what it says of its version. */
export async function programStanding(
  program: SystemProgram,
  { versionArgs, package: name }: { readonly versionArgs: readonly string[]; readonly package: string },
): Promise<EngineStanding> {
  const path = program.path()
  if (path === undefined) return { status: 'missing', detail: `${name} is not installed.`, fix: `install ${name}` }
  try {
    const { stdout, stderr } = await program.run({ args: versionArgs, maxBytes: MAX_SAID_BYTES })
    const [line = ''] = `${stdout.toString('utf8')}${stderr}`.split('\n')
    return { status: 'ok', detail: `${line.trim().slice(0, 100)} at ${path}` }
  } catch {
    return { status: 'failing', detail: `${path} does not start.`, fix: `install ${name} anew` }
  }
}

/**
 * One run in a process group of its own with an empty environment, ended as a whole: a wrapper that starts others takes
 * them along.
 */
function ended(file: string, run: ProgramRun, limits: ProgramLimits): Promise<{ stdout: Buffer; stderr: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ stdout: Buffer; stderr: string }>()
  const { args, signal, maxBytes, descriptor } = run
  const [command, words] = isWindows ? [file, args] : limited([file, ...args], limits, run.stdin !== undefined)
  const child = spawn(command, [...words], {
    cwd: isWindows ? undefined : '/',
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe', ...(descriptor === undefined ? [] : [descriptor])],
    detached: !isWindows,
    windowsHide: true,
    ...(IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  let why: ProgramError | undefined
  const end = (failure: ProgramFailure, message: string) => {
    why ??= new ProgramError(failure, message)
    killGroup(child.pid)
  }
  const out = gathered(child.stdout, maxBytes, () => end('output', `${file} made more than ${maxBytes} bytes`))
  const said = gathered(child.stderr, MAX_SAID_BYTES)
  const timer = setTimeout(() => end('timeout', `${file} was not done in time`), limits.deadlineMs)
  const onAbort = () => end('aborted', `${file} was given up`)
  signal?.addEventListener('abort', onAbort, { once: true })
  child.stdin?.on('error', () => undefined) // it need not read all of it
  child.stdin?.end(run.stdin ?? '')
  child.on('error', (error) => end('absent', error.message))
  child.on('close', (code) => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    killGroup(child.pid) // nothing that it started stays
    const stderr = said().toString('utf8')
    if (why) reject(new ProgramError(why.failure, why.message, stderr))
    else if (code === 0) resolve({ stdout: out(), stderr })
    else reject(new ProgramError('refused', `${file} ended with ${code}`, stderr))
  })
  return promise
}

/**
 * The shell sets what Node cannot: address space, processor time, no core files. What Node hands over as standard input
 * is a socket, which programs cannot open anew as /dev/stdin; so it is passed on through a pipe.
 */
function limited(words: readonly string[], { maxMemoryMb, deadlineMs }: ProgramLimits, hasInput: boolean) {
  const limit = 'ulimit -c 0; ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2;'
  const seconds = Math.ceil(deadlineMs / SECOND_MS)
  const script = `${limit} ${hasInput ? 'cat | "$@"' : 'exec "$@"'}`
  return ['/bin/sh', ['-c', script, 'sh', String(maxMemoryMb * KB_A_MB), String(seconds), ...words]] as const
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(isWindows ? pid : -pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

/** Keeps what a stream says, up to a bound; `onMore` hears of the rest. */
function gathered(stream: NodeJS.ReadableStream | null, maxBytes: number, onMore?: () => void): () => Buffer {
  const chunks: Buffer[] = []
  let size = 0
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else onMore?.()
  })
  return () => Buffer.concat(chunks)
}
