import { fileURLToPath } from 'node:url'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { openThreadPool, type PoolLimits, ThreadError } from '../threads.ts'
import type { ResolvedAddress } from '../web/connect.ts'
import { type Handshake, type Shaken, TlsError, type TlsOffer } from './handshake.ts'

/** Shakes hands with the TLS of a public host on port 443 and reads what it shows; nothing is sent over it. */
export type Tls = {
  /** @throws TlsError when there is no handshake, WebError for a host that must not be asked. */
  readonly handshake: (host: string, how?: HandshakeOptions) => Promise<Handshake>
  readonly close: () => Promise<void>
}

export type HandshakeOptions = TlsOffer & {
  /** Whose work it is: everyone's takes turns with everyone else's. */
  readonly who?: string
  readonly signal?: AbortSignal
}

export type TlsOptions = {
  /** Public addresses of a host. @throws WebError */
  readonly resolve: (host: string) => Promise<readonly ResolvedAddress[]>
  /** The port of https unless a test listens elsewhere. */
  readonly port?: number
  /** Roots that are trusted besides those of Node. */
  readonly ca?: string
}

const HTTPS_PORT = 443
/** Verifying a hostile chain of 100 kB takes tenths of a second, so a handshake has a thread of its own. */
const LIMITS: PoolLimits = { size: 4, maxWaiting: 256, deadlineMs: 10 * SECOND_MS, maxHeapMb: 64, idleMs: MINUTE_MS }

export function openTls(options: TlsOptions): Tls {
  const pool = openThreadPool(threadFile(), LIMITS)

  async function handshake(
    host: string,
    { who = host, signal, ...offered }: HandshakeOptions = {},
  ): Promise<Handshake> {
    const [address] = await options.resolve(host)
    if (!address) throw new TlsError('unreachable', 'The host name has no address.')
    const { ca, port = HTTPS_PORT } = options
    const args = [{ host, address, port, ca, ...offered }]
    const shaken = (await pool.run({ name: 'shake', args, who, signal }).catch(throwCut)) as Shaken // of that task
    if ('failure' in shaken) throw new TlsError(shaken.failure, shaken.message)
    return shaken
  }
  return { handshake, close: pool.close }
}

/** What a task is told that was cut short, or had no turn. */
function throwCut(error: unknown): never {
  if (!(error instanceof ThreadError) || error.failure === 'busy') throw error
  throw new TlsError('timeout', 'The host did not finish the handshake in time.', error)
}

/** Next to this module, both among the sources and in the bundle. */
function threadFile(): string {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./tls.worker.${suffix}`, import.meta.url))
}
