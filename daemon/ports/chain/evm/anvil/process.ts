import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { z } from 'zod'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import { killGroup } from '../../../program/spawn.ts'

const START_MS = 30 * SECOND_MS
/** It writes the whole chain out at its end. */
const STOP_MS = 15 * SECOND_MS
/** Of what it says last, for whoever asks why it ended. */
const SAID_CHARS = 4_096
const NEW_PORT = 0
const ASK_MS = 30 * SECOND_MS
const Reply = z.object({ result: z.json().optional(), error: z.object({ message: z.string() }).optional() })

/**
 * A shell stands beside the chain for as long as the pipe from the daemon is open. Whatever ends the daemon closes that
 * pipe, and the chain is told to end in order: it writes itself out then. Its output closes with it, so that the daemon
 * hears of the chain's own end.
 */
const BESIDE = `"$@" 2>&1 & child=$!
echo "pid $child"
exec >&-
read -r _
kill -TERM "$child" 2>/dev/null
wait "$child"`

export type AnvilOptions = {
  readonly program: string
  /** Where it works, and what it takes for its home. */
  readonly folder: string
  readonly chainId: number
  /** 0, the default, lets the system choose. */
  readonly port?: number
  /** A block every so many seconds instead of one a transaction. */
  readonly blockTimeS?: number | undefined
  /** State to begin with, as JSON. */
  readonly load?: string | undefined
  /** Where it writes its state when it is ended in order. */
  readonly dump?: string | undefined
}

/**
 * A call at the latest block is answered by the state of the number that this had when it was asked: a block that comes
 * meanwhile must not have dropped it.
 */
const KEPT_STATES = 32
/** Flags of what the node remembers. */
export const keptHistory: readonly string[] = ['--prune-history', String(KEPT_STATES)]

/** A local chain that runs. */
export type Anvil = {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Resolves with its last words, whatever ended it. */
  readonly ended: Promise<string>
  /** Ends it in order, and hard where that takes too long. */
  readonly stop: () => Promise<void>
}

/** Starts a chain on loopback, without any account that others know the key of. @throws Error with what it said. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const child = spawned(options)
  const said = lastWords(child.stdout)
  const ended = Promise.all([once(child.stdout, 'close'), once(child, 'close')]).then(said)
  // Where its output closes the chain is gone, and nothing is left to stand beside.
  child.stdout.once('close', () => child.stdin.destroy())
  child.stdin.on('error', () => undefined)
  const ready = Promise.withResolvers<{ port: number; pid: number }>()
  child.once('error', ready.reject)
  void ended.then((words) => ready.reject(new Error(`anvil ended before it was ready: ${words}`)))
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

/** Follows a stream to its end, and keeps the last of it. */
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
    // Its ready-made accounts have keys that everybody knows, and a page in a browser is nobody to take orders from.
    ...['--accounts', '0', '--no-cors', ...keptHistory],
    ...(blockTimeS === undefined ? [] : ['--block-time', String(blockTimeS)]),
    ...(load === undefined ? [] : ['--load-state', load]),
    ...(dump === undefined ? [] : ['--dump-state', dump]),
  ]
}

/** Asks the chain that we run something that only such a chain knows. @throws Error */
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
