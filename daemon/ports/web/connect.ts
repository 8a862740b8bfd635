import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { WebError } from './error.ts'
import { checkAddress, type WebTarget } from './target.ts'

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }
/** All addresses of a host. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Connection limit, TLS included. */
const CONNECT_TIMEOUT_MS = 10_000

/** The system resolver. */
export const systemResolve: Resolve = async (hostname) => {
  const found = await systemLookup(hostname, { all: true, order: 'verbatim' })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/** Resolves a host; refuses it if any address is forbidden. @throws WebError address_refused or dns_failed. */
export async function resolveChecked(target: WebTarget, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
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

export type ConnectionGuard = {
  readonly target: WebTarget
  readonly resolve: Resolve
  /** Called when connected and checked; data may be sent from here on. */
  readonly onConnected: () => void
  /** Connector (default: undici's); tests replace it. */
  readonly build?: typeof buildConnector
}

/**
 * A connector for one target: the socket gets only checked addresses, and the peer address is checked again. Literal
 * hosts skip the lookup, so `targetOf` checks them.
 */
export function guardedConnector({ target, resolve, onConnected, build = buildConnector }: ConnectionGuard) {
  const connect = build({ timeout: CONNECT_TIMEOUT_MS, lookup: pinned(target, resolve), autoSelectFamily: true })
  const guarded: typeof connect = (options, callback) => {
    connect(options, (error, socket) => {
      if (error || !socket) return callback(error ?? new WebError('connect_failed', 'There is no connection.'), null)
      try {
        checkAddress(target, socket.remoteAddress)
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

function pinned(target: WebTarget, resolve: Resolve): LookupFunction {
  return (_hostname, options, callback) => {
    resolveChecked(target, resolve).then(
      (found) => {
        const [first] = found
        if (options.all) callback(null, [...found])
        else callback(null, first?.address ?? '', first?.family ?? 0)
      },
      (error: Error) => callback(error, []),
    )
  }
}
