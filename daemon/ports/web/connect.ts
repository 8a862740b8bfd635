import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { compact } from '../../../src/core/record.ts'
import { WebError } from './error.ts'
import { checkAddress, type WebTarget } from './target.ts'

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Time limit for connecting, including the TLS handshake. */
const CONNECT_TIMEOUT_MS = 10_000

export const systemResolve: Resolve = async (hostname) => {
  const found = await systemLookup(hostname, { all: true, order: 'verbatim' })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/** Resolves a host; refuses it if any address is forbidden. @throws WebError `address_refused` or `dns_failed`. */
export async function resolveChecked(
  target: Omit<WebTarget, 'url'>,
  resolve: Resolve,
): Promise<readonly ResolvedAddress[]> {
  const found = await resolveNamed(target.host, resolve)
  for (const { address } of found) checkAddress(target, address)
  return found
}

async function resolveNamed(host: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  try {
    const found = await resolve(host)
    if (found.length > 0) return found
  } catch (error) {
    throw new WebError('dns_failed', 'The host name cannot be resolved.', { cause: error })
  }
  throw new WebError('dns_failed', 'The host name has no address.')
}

/** The target of one connection, as it is copied to a worker thread. */
export type Hop = Pick<WebTarget, 'host' | 'port' | 'reach'> & {
  /** Checked addresses of the host; empty if the host is itself an address, which `targetOf` has checked. */
  readonly addresses: readonly ResolvedAddress[]
  readonly ca?: string | undefined
}

/** @throws WebError address_refused or dns_failed. */
export async function hopTo({ host, port, reach }: WebTarget, resolve: Resolve): Promise<Hop> {
  const addresses = isIP(host) === 0 ? await resolveChecked({ host, port, reach }, resolve) : []
  return { host, port, reach, addresses }
}

/**
 * A connector for one hop. It connects only to checked addresses, and checks the peer's address again.
 * @param onConnected called when connected and checked; data may be sent from then on
 */
export function guardedConnector(hop: Hop, onConnected: () => void) {
  const { ca } = hop
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: pinned(hop),
    autoSelectFamily: true,
    ...compact({ ca }),
  })
  const guarded: typeof connect = (options, callback) => {
    connect({ ...options, port: String(hop.port) }, (error, socket) => {
      if (error || !socket) return callback(error ?? new WebError('connect_failed', 'There is no connection.'), null)
      try {
        checkAddress(hop, socket.remoteAddress)
      } catch (refusal) {
        socket.destroy()
        return callback(refusal as WebError, null) // all that checkAddress throws
      }
      onConnected()
      return callback(null, socket)
    })
  }
  return guarded
}

function pinned({ addresses }: Hop): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family ?? 0)
  }
}
