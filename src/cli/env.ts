import manifest from '../../package.json' with { type: 'json' }
import type { Env } from '../client/paths.ts'
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

/** Everything that the command line takes from the machine; tests hand in their own. */
export type System = {
  /** Words behind the program's name. */
  readonly argv: readonly string[]
  readonly env: Env
  readonly stdin: InputStream
  readonly stdinIsTty: boolean
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly version: string
  /** That it was built from, `+` behind it where files had been changed; null where that is not known. */
  readonly commit: string | null
  /** Version of Node. */
  readonly node: string
  readonly platform: string
  readonly tmpDir: string
  /** How the program was started, as it is typed: `souk`, `bin/souk`, `npx souk`. */
  readonly program: string
  /** Hears of every command that is suggested. */
  readonly onHint?: (line: string) => void
  /** Program and first arguments that start this program again, for the detached daemon. */
  readonly self: readonly [string, ...string[]]
  /** Loads the daemon's own code: only the process that becomes it, or looks after its data, asks. */
  daemon(): Promise<DaemonDoor>
  /** Epoch milliseconds. */
  now(): number
  /** Resolves after the time, at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Runs a program in this terminal until it ends. @returns false where there is no such program */
  foreground(words: readonly [string, ...string[]], stdin?: string): Promise<boolean>
  /** Ends this process at once. */
  exit(code: number): never
  /** The process that started this one and waits for its words, if there is such a one; `leave` ends the channel. */
  readonly parent: { tell(message: unknown): Promise<void>; leave(): void } | undefined
  /** @returns the function that takes the handler away. */
  onSignal(signal: Signal, handler: () => void): () => void
}

const STDIN = 0
export const version: string = manifest.version
/** Set by the build; undefined when sources run directly. */
declare const SOUK_COMMIT: string | null | undefined

/** The real machine; `script` is the file that was started. */
export function realSystem(script: string, daemon: System['daemon']): System {
  // A reader that went away (`souk … | head -1`) is no failure of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever waits until all is written hears of any other.
    if (error.code === 'EPIPE') process.exit(0)
  })
  const isPacked = process.getBuiltinModule('node:sea').isSea()
  // By bin/souk; what this program starts itself was not started so.
  const { SOUK_STARTED_AS: startedAs } = process.env
  delete process.env['SOUK_STARTED_AS']
  return {
    argv: process.argv.slice(2),
    get program() {
      const file = isPacked ? process.argv0 : (startedAs ?? process.argv[1] ?? script)
      return programOf({ env: process.env, file, isPacked, folder: process.cwd() })
    },
    env: process.env,
    // Getters: opening a stream, or only asking about it, costs up to a tenth of a start, and few commands do.
    get stdin() {
      return process.stdin
    },
    get stdinIsTty() {
      return process.getBuiltinModule('node:tty').isatty(STDIN)
    },
    stdout: process.stdout,
    get stderr() {
      // What cannot be said there ends nothing: the work goes on, and its exit code tells how it went.
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
    // A packed binary starts itself again without a script.
    self: isPacked ? [process.execPath] : [process.execPath, script],
    daemon,
    exit: (code) => process.exit(code),
    foreground,
    parent: process.send === undefined ? undefined : { tell: tellParent, leave: leaveParent },
    now: () => Date.now(),
    sleep,
    onSignal(signal, handler) {
      process.on(signal, handler)
      return () => process.off(signal, handler)
    },
  }
}

/** Sends one message over the channel of the start. */
async function tellParent(message: unknown): Promise<void> {
  // The parent may be gone already (ctrl-c while waiting); there is nobody left to tell then.
  if (!process.connected) return
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
}

/** The child is on its own from then on. */
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

/** What runs in the foreground has the keyboard: ctrl-c is for it, and not for the program behind it. */
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
