import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { WebError } from './error.ts'
import { checkAddress, type WebTarget } from './target.ts'

export type ResolvedAddress = { readonly address: string; readonly family: 4 | 6 }
/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Longest wait for a connection, TLS included. */
const CONNECT_TIMEOUT_MS = 10_000

/** Resolves as every other program of the machine does. */
export const systemResolve: Resolve = async (hostname) => {
  const found = await systemLookup(hostname, { all: true, order: 'verbatim' })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/**
 * Resolves a host, refusing it when any of its addresses is one that the hop must not end at.
 * @throws WebError address_refused or dns_failed.
 */
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
  /** Called once the connection stands and was checked: from here on something may have been sent. */
  readonly onConnected: () => void
  /** Makes connections; undici's own unless a test wants to see a faulty one caught. */
  readonly build?: typeof buildConnector
}

/**
 * A connector that is bound to one target: the addresses checked are the ones connected to, since the socket gets
 * them from here, and the address at the other end is checked once more. A literal host never reaches the lookup,
 * which is why `targetOf` checks those.
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
