import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import { killGroup } from '../../../program/start.ts'

const START_MS = 30 * SECOND_MS
/** Longest wait for the chain program to exit. It writes the whole chain before it exits. */
const STOP_MS = 15 * SECOND_MS
/** Characters of the last output that are kept for error messages. */
const SAID_CHARS = 4_096
const NEW_PORT = 0
const ASK_MS = 30 * SECOND_MS
const Reply = z.object({ result: z.json().optional(), error: z.object({ message: z.string() }).optional() })

/**
 * A shell starts the chain program and watches a pipe from the daemon. When the daemon ends in any way, the pipe closes
 * and the shell stops the chain, which then saves its state. The output closes when the chain exits.
 */
const BESIDE = `"$@" 2>&1 & child=$!
echo "pid $child"
exec >&-
read -r _
kill -TERM "$child" 2>/dev/null
wait "$child"`

export type AnvilOptions = {
  readonly program: string
  /** Working folder and home folder of the chain program. */
  readonly folder: string
  readonly chainId: number
  /** Port (default: 0, any free port). */
  readonly port?: number
  /** Seconds between blocks (default: one block per transaction). */
  readonly blockTimeS?: number | undefined
  /** File with the initial state, in JSON. */
  readonly load?: string | undefined
  readonly dump?: string | undefined
}

/** Number of recent block states to keep, so that a new block does not drop the state that a running call needs. */
const KEPT_STATES = 32
export const keptHistory: readonly string[] = ['--prune-history', String(KEPT_STATES)]

export type Anvil = {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Resolves with the last output when the chain program exits. */
  readonly ended: Promise<string>
  /** Stops the chain program; kills it after `STOP_MS`. */
  readonly stop: () => Promise<void>
}

/** Starts a chain on loopback without anvil's well-known accounts. @throws Error with the program's output */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const child = spawned(options)
  const said = lastWords(child.stdout)
  const ended = Promise.all([once(child.stdout, 'close'), once(child, 'close')]).then(said)
  // The chain's exit closes the output. Closing stdin then ends the shell.
  child.stdout.once('close', () => child.stdin.destroy())
  child.stdin.on('error', () => undefined)
  const ready = Promise.withResolvers<{ port: number; pid: number }>()
  child.once('error', ready.reject)
  void ended.then((words) => ready.reject(new Error(`anvil exited before it was ready: ${words}`)))
  child.stdout.on('data', () => {
    const [, pid = child.pid] = /^pid (\d+)$/m.exec(said()) ?? []
    const [, port] = /^Listening on 127\.0\.0\.1:(\d+)/m.exec(said()) ?? []
    if (port !== undefined) ready.resolve({ port: Number(port), pid: Number(pid) })
  })
  const timer = setTimeout(() => {
    killGroup(child.pid)
    ready.reject(new Error(`anvil was not ready within ${START_MS / SECOND_MS} s: ${said()}`))
  }, START_MS)
  try {
    const { port, pid } = await ready.promise
    return { url: `http://127.0.0.1:${port}`, port, pid, ended, stop: () => stopped(child, ended) }
  } finally {
    clearTimeout(timer)
  }
}

async function stopped(child: ReturnType<typeof spawned>, ended: Promise<string>): Promise<void> {
  if (process.platform === 'win32') child.kill()
  child.stdin.end()
  const timer = setTimeout(() => killGroup(child.pid), STOP_MS)
  await ended
  clearTimeout(timer)
}

function lastWords(stream: Readable): () => string {
  let words = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-SAID_CHARS)
  })
  return () => words.trim()
}

function spawned({ program, folder, ...options }: AnvilOptions) {
  const isWindows = process.platform === 'win32'
  const words = [program, ...flagsOf(options)]
  return spawn(isWindows ? program : '/bin/sh', isWindows ? words.slice(1) : ['-c', BESIDE, 'sh', ...words], {
    cwd: folder,
    env: { HOME: folder, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: !isWindows,
    windowsHide: true,
  })
}

function flagsOf({ chainId, port = NEW_PORT, blockTimeS, load, dump }: Omit<AnvilOptions, 'program' | 'folder'>) {
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)],
    // No well-known accounts, and no access from browsers.
    ...['--accounts', '0', '--no-cors', ...keptHistory],
    ...(blockTimeS === undefined ? [] : ['--block-time', String(blockTimeS)]),
    ...(load === undefined ? [] : ['--load-state', load]),
    ...(dump === undefined ? [] : ['--dump-state', dump]),
  ]
}

/** Calls a JSON-RPC method of a local chain. @throws Error */
export async function ask(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(ASK_MS),
  })
  const { result, error } = Reply.parse(await response.json())
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}
