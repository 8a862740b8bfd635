import manifest from '../../package.json' with { type: 'json' }
import type { Env } from '../client/settings.ts'
import type { DaemonDoor } from './door.ts'
import { programOf } from './hints.ts'

export type OutputStream = {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): boolean
}
export type InputStream = AsyncIterable<Uint8Array | string>
export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** Everything that the command line uses of the machine; tests replace it. */
export type System = {
  /** Words after the program's name. */
  readonly argv: readonly string[]
  readonly env: Env
  readonly stdin: InputStream
  readonly stdinIsTty: boolean
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly version: string
  /** Git commit of the build, with `+` for local changes; null if unknown. */
  readonly commit: string | null
  readonly node: string
  readonly platform: string
  readonly tmpDir: string
  /** How the program was started: `souk`, `bin/souk`, `npx souk`. */
  readonly program: string
  /** Called with every suggested command. */
  readonly onHint?: (line: string) => void
  /** Words that start this program again, used for the detached daemon. */
  readonly self: readonly [string, ...string[]]
  /** Loads the daemon's code; only for processes that need it. */
  daemon(): Promise<DaemonDoor>
  /** Epoch milliseconds. */
  now(): number
  /** Resolves after `ms` milliseconds, or as soon as `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Runs a program in this terminal. @returns false if it does not exist */
  foreground(words: readonly [string, ...string[]], stdin?: string): Promise<boolean>
  exit(code: number): never
  /** The parent process that waits for this one, if any. `leave` closes the channel to it. */
  readonly parent: { tell(message: unknown): Promise<void>; leave(): void } | undefined
  /** How often this process may get the signal of one ctrl-c (default: 1). */
  readonly signalsPerPress?: number
  /** @returns a function that removes the handler */
  onSignal(signal: Signal, handler: () => void): () => void
}

const STDIN = 0
export const version: string = manifest.version
/** Set by the build; undefined when souk runs from its sources. */
declare const SOUK_COMMIT: string | null | undefined

/** The real machine; `script` is the started file. */
export function realSystem(script: string, daemon: System['daemon']): System {
  // A closed pipe (`souk … | head -1`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // `flush` reports all other errors.
    if (error.code === 'EPIPE') process.exit(0)
  })
  const isPacked = process.getBuiltinModule('node:sea').isSea()
  // bin/souk and `startOnPackagedNode` set these. Remove them, so that child processes do not inherit them.
  const { SOUK_STARTED_AS: startedAs, SOUK_SIGNALS_FORWARDED: forwarded } = process.env
  for (const name of ['SOUK_STARTED_AS', 'SOUK_SIGNALS_FORWARDED']) delete process.env[name]
  return {
    argv: process.argv.slice(2),
    get program() {
      const file = isPacked ? process.argv0 : (startedAs ?? process.argv[1] ?? script)
      return programOf({ env: process.env, file, isPacked, folder: process.cwd() })
    },
    env: process.env,
    // These are getters, because opening a stream takes up to a tenth of the start time.
    get stdin() {
      return process.stdin
    },
    get stdinIsTty() {
      return process.getBuiltinModule('node:tty').isatty(STDIN)
    },
    stdout: process.stdout,
    get stderr() {
      // A broken stderr must not end the process.
      if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined)
      return process.stderr
    },
    version,
    commit: typeof SOUK_COMMIT === 'undefined' ? null : SOUK_COMMIT,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    get tmpDir() {
      return process.getBuiltinModule('node:os').tmpdir()
    },
    // A packaged binary needs no script.
    self: isPacked ? [process.execPath] : [process.execPath, script],
    daemon,
    exit: (code) => process.exit(code),
    foreground,
    parent: process.send === undefined ? undefined : { tell: tellParent, leave: leaveParent },
    now: () => Date.now(),
    sleep,
    // A terminal sends ctrl-c to the forwarding parent as well as to this process.
    signalsPerPress: forwarded === undefined ? 1 : 2,
    onSignal(signal, handler) {
      process.on(signal, handler)
      return () => process.off(signal, handler)
    },
  }
}

async function tellParent(message: unknown): Promise<void> {
  // The parent may be gone.
  if (!process.connected) return
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
}

function leaveParent(): void {
  if (process.connected) process.disconnect()
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done)
  })
}

/** Runs a program in this terminal. While it runs, ctrl-c ends only that program. */
async function foreground([program, ...words]: readonly [string, ...string[]], stdin?: string): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const handlers = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT')
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  try {
    const env = { LESS: 'FRX', ...process.env }
    const child = spawn(program, words, {
      stdio: [stdin === undefined ? 'inherit' : 'pipe', 'inherit', 'inherit'],
      env,
    })
    child.stdin?.on('error', ignore) // a pager that was left early has read enough
    child.stdin?.end(stdin)
    return await new Promise((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve(false) : reject(error)))
      child.once('close', () => resolve(true))
    })
  } finally {
    process.off('SIGINT', ignore)
    for (const handler of handlers) process.on('SIGINT', handler)
  }
}
