import { openNetThreads, type TaskOutcome } from '../net-threads.ts'
import { ThreadError } from '../threads.ts'
import type { ResolvedAddress } from '../web/connect.ts'
import { type Handshake, type ShakeTask, TlsError, type TlsFailure, type TlsOffer } from './handshake.ts'

/** TLS handshakes with public hosts on port 443; sends no data. */
export type Tls = {
  /** @throws TlsError if there is no handshake, WebError for a refused or unknown host, ThreadError if busy */
  readonly handshake: (host: string, how?: HandshakeOptions) => Promise<Handshake>
  readonly close: () => Promise<void>
}

export type HandshakeOptions = TlsOffer & {
  /** Id of the caller (default: the host). Waiting callers take turns. */
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

export function openTls(options: TlsOptions): Tls {
  // Pages and webhooks use other threads, so that hostile TLS hosts cannot delay them.
  const threads = openNetThreads()

  async function handshake(
    host: string,
    { who = host, signal, ...offered }: HandshakeOptions = {},
  ): Promise<Handshake> {
    const [address] = await options.resolve(host)
    if (!address) throw new TlsError('unreachable', 'The host name has no address.')
    const { ca, port = HTTPS_PORT } = options
    const args = [{ host, address, port, ca, ...offered } satisfies ShakeTask]
    const shaken = (await threads.run({ name: 'shake', args, who, signal }).catch(throwCut)) as TaskOutcome<
      Handshake,
      TlsFailure
    > // of that task
    if ('failure' in shaken) throw new TlsError(shaken.failure, shaken.message)
    return shaken
  }
  return { handshake, close: threads.close }
}

/** Throws a timeout error if the task was stopped; rethrows any other error. */
function throwCut(error: unknown): never {
  if (!(error instanceof ThreadError) || error.failure === 'busy') throw error
  throw new TlsError('timeout', 'The host did not finish the handshake in time.', error)
}
