import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Readable } from 'node:stream'
import { SECOND_MS } from '../../../src/core/time.ts'
import type { EngineStanding } from '../engine.ts'
import { killGroup, startProcess } from './start.ts'

/** Why a program failed. `busy`: it never started. `refused`: it exited with an error, usually because of its input. */
export type ProgramFailure = 'absent' | 'busy' | 'timeout' | 'aborted' | 'output' | 'refused'

export class ProgramError extends Error {
  override readonly name = 'ProgramError'
  readonly failure: ProgramFailure
  /** The program's last output, for the log. */
  readonly said: string

  constructor(failure: ProgramFailure, message: string, said = '') {
    super(message)
    this.failure = failure
    this.said = said
  }
}

export type ProgramRun = {
  readonly args: readonly string[]
  readonly stdin?: string | Uint8Array
  /** Path of a file that is open in the program as descriptor 3. */
  readonly file?: string
  /** Limit of standard output; a program that writes more is killed. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

export type ProgramLimits = {
  readonly deadlineMs: number
  /** Address space limit, if supported. */
  readonly maxMemoryMb: number
  /** Concurrent runs. */
  readonly atOnce: number
  readonly maxWaiting: number
  /** A program of the operator: it keeps the user of the daemon, and has no limits but time and output. */
  readonly isOwn: boolean
  /** Whether the time limit begins anew with each error output. */
  readonly isPatient: boolean
}

/** A local program that processes untrusted data. */
export type SystemProgram = {
  /** Path of the program; undefined if not installed. */
  readonly path: () => string | undefined
  /** @throws ProgramError */
  readonly run: (run: ProgramRun) => Promise<{ readonly stdout: Buffer; readonly stderr: string }>
}

const DEFAULT_LIMITS: ProgramLimits = {
  ...{ deadlineMs: 60 * SECOND_MS, maxMemoryMb: 1_024, atOnce: 2, maxWaiting: 32 },
  ...{ isOwn: false, isPatient: false },
}
const MAX_SAID_BYTES = 64 * 1024
const KB_A_MB = 1_024
/** User id of `nobody`, who owns no files, for programs that process untrusted data. */
const NOBODY = 65_534
const isWindows = process.platform === 'win32'
const IS_ROOT = process.getuid?.() === 0

/** Path of a command; undefined if missing or not executable. @param command a name to look up, or a path */
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

/** A program with limited concurrency. @param command looked up at each run, so it can be installed later */
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
    if (waiting.length >= limits.maxWaiting) throw new ProgramError('busy', `the queue of ${command} is full`)
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
        if (run.signal?.aborted) throw new ProgramError('aborted', `${command} was cancelled`)
        return await ended(file, run, limits)
      } finally {
        leave()
      }
    },
  }
}

/** Checks a program by running it for its version. */
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
    return { status: 'failing', detail: `${path} does not start.`, fix: `reinstall ${name}` }
  }
}

/** Runs a program in its own process group with a minimal environment, then kills the group. @throws ProgramError */
async function ended(
  file: string,
  run: ProgramRun,
  limits: ProgramLimits,
): Promise<{ stdout: Buffer; stderr: string }> {
  const started = await begun(file, run, limits)
  let why: ProgramError | undefined
  const end = (failure: ProgramFailure, message: string) => {
    why ??= new ProgramError(failure, message)
    killGroup(started.pid)
  }
  const { signal, maxBytes } = run
  const out = gathered(started.output(1), maxBytes, () => end('output', `${file} produced more than ${maxBytes} bytes`))
  const said = gathered(started.output(2), MAX_SAID_BYTES)
  const timer = setTimeout(() => end('timeout', `${file} did not finish in time`), limits.deadlineMs)
  if (limits.isPatient) started.output(2).on('data', () => timer.refresh())
  const onAbort = () => end('aborted', `${file} was cancelled`)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()
  const stdin = started.input(0)
  stdin.on('error', () => undefined) // it need not read all of it
  stdin.end(run.stdin ?? '')
  const [code, stdout, stderr] = await Promise.all([started.exited, out, said, started.closed])
  clearTimeout(timer)
  signal?.removeEventListener('abort', onAbort)
  killGroup(started.pid) // nothing that it started stays
  if (why) throw new ProgramError(why.failure, why.message, stderr.toString('utf8'))
  if (code === 0) return { stdout, stderr: stderr.toString('utf8') }
  throw new ProgramError('refused', `${file} exited with ${code}`, stderr.toString('utf8'))
}

async function begun(file: string, { args, stdin, file: read }: ProgramRun, limits: ProgramLimits) {
  const [command, words] =
    isWindows || limits.isOwn ? [file, args] : limited([file, ...args], limits, stdin !== undefined)
  try {
    return await startProcess({
      file: command,
      args: words,
      cwd: isWindows ? undefined : '/',
      env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
      descriptors: ['in', 'out', 'out', ...(read === undefined ? [] : [{ file: read }])],
      ...(IS_ROOT && !limits.isOwn ? { uid: NOBODY, gid: NOBODY } : {}),
    })
  } catch (error) {
    throw new ProgramError('absent', error instanceof Error ? error.message : String(error))
  }
}

/**
 * The shell sets limits that Node cannot: address space, CPU time, no core files. It pipes stdin through `cat`, because
 * Node passes a socket, which a program cannot reopen as /dev/stdin.
 */
function limited(words: readonly string[], { maxMemoryMb, deadlineMs }: ProgramLimits, hasInput: boolean) {
  const limit = 'ulimit -c 0; ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2;'
  const seconds = Math.ceil(deadlineMs / SECOND_MS)
  const script = `${limit} ${hasInput ? 'cat | "$@"' : 'exec "$@"'}`
  return ['/bin/sh', ['-c', script, 'sh', String(maxMemoryMb * KB_A_MB), String(seconds), ...words]] as const
}

/** Collects a stream up to a limit. Keeps its beginning if `onMore` is given, else its end, where errors are. */
function gathered(stream: Readable, maxBytes: number, onMore?: () => void): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes && onMore) return onMore()
    chunks.push(chunk)
    for (let first = chunks[0]; first && size - first.length >= maxBytes; first = chunks[0]) {
      size -= first.length
      chunks.shift()
    }
  })
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  stream.on('close', () => resolve(Buffer.concat(chunks)))
  stream.on('error', () => undefined) // it closes then
  return promise
}
