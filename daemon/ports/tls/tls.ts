import { fileURLToPath } from 'node:url'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import { openThreadPool, type PoolLimits, ThreadError } from '../threads.ts'
import type { ResolvedAddress } from '../web/connect.ts'
import { type Handshake, type Shaken, TlsError, type TlsOffer } from './handshake.ts'

/** TLS handshakes with public hosts on port 443; sends no data. */
export type Tls = {
  /** @throws TlsError without a handshake, WebError for a refused host */
  readonly handshake: (host: string, how?: HandshakeOptions) => Promise<Handshake>
  readonly close: () => Promise<void>
}

export type HandshakeOptions = TlsOffer & {
  /** Key of fair sharing. */
  readonly who?: string
  readonly signal?: AbortSignal
}

export type TlsOptions = {
  /** Public addresses of a host. @throws WebError */
  readonly resolve: (host: string) => Promise<readonly ResolvedAddress[]>
  /** (default: 443) */
  readonly port?: number
  /** Further trusted roots. */
  readonly ca?: string
}

const HTTPS_PORT = 443
/** A hostile chain of 100 kB takes tenths of a second to verify, so handshakes run on threads. */
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

/** The error of a task that was cut or got no turn. */
function throwCut(error: unknown): never {
  if (!(error instanceof ThreadError) || error.failure === 'busy') throw error
  throw new TlsError('timeout', 'The host did not finish the handshake in time.', error)
}

/** Beside this module, in the sources and in the bundle. */
function threadFile(): string {
  const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./tls.worker.${suffix}`, import.meta.url))
}
