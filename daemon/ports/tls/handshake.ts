import {
  type ConnectionOptions,
  checkServerIdentity,
  connect,
  type DetailedPeerCertificate,
  type SecureVersion,
  type TLSSocket,
} from 'node:tls'
import { errnoOf, WorkError } from '../../../src/core/error.ts'
import { compact } from '../../../src/core/record.ts'
import type { ResolvedAddress } from '../web/connect.ts'
import { type CertificateFacts, factsOf } from './certificate.ts'

export type TlsOffer = {
  /** The only TLS version to offer (default: all supported). */
  readonly version?: SecureVersion
  /** OpenSSL cipher list, which may also set the security level. */
  readonly ciphers?: string
}

export type ShakeTask = TlsOffer & {
  readonly host: string
  readonly address: ResolvedAddress
  readonly port: number
  /** Further trusted roots. */
  readonly ca?: string | undefined
}

export type Handshake = {
  readonly address: string
  readonly family: 4 | 6
  readonly protocol: string
  readonly cipher: { readonly name: string; readonly group: string | null; readonly forward_secrecy: boolean }
  readonly alpn: string | null
  readonly authorized: boolean
  /** OpenSSL or Node code of a trust failure. */
  readonly authorization_error: string | null
  readonly is_for_host: boolean
  /** Certificate chain, leaf first. Its root may come from the local store instead of the host. */
  readonly chain: readonly CertificateFacts[]
  readonly ocsp_stapled: boolean
}

/** `local`: this program lacks the wanted TLS version or cipher, so the result is unknown. `refused`: by the host. */
export type TlsFailure = 'local' | 'refused' | 'plain_text' | 'unreachable' | 'timeout'

export class TlsError extends WorkError<TlsFailure> {
  override readonly name = 'TlsError'
}

const HANDSHAKE_MS = 5_000
const MAX_CHAIN = 10
const MAX_REASON = 200
/** Offers all ciphers, so that old hosts can answer. */
const ALL_CIPHERS = 'ALL:@SECLEVEL=0'

/** @throws TlsError if there is no handshake */
export function shake(task: ShakeTask, signal: AbortSignal): Promise<Handshake> {
  const { host, address } = task
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>()
  let isStapled = false
  const late = new TlsError('timeout', 'The host did not finish the handshake in time.')
  const timer = setTimeout(() => reject(late), HANDSHAKE_MS)
  signal.addEventListener('abort', () => reject(signal.reason))
  const socket = begin(task, reject)
  socket?.on('error', (error) => reject(asTlsError(error)))
  socket?.on('close', () => reject(new TlsError('refused', 'The host closed the connection during the handshake.')))
  socket?.on('OCSPResponse', (response: Buffer | null) => {
    isStapled = response !== null && response.length > 0
  })
  socket?.on('secureConnect', () => {
    try {
      resolve(seen(socket, { host, address, isStapled }))
    } catch (error) {
      reject(error)
    }
  })
  return promise.finally(() => {
    clearTimeout(timer)
    socket?.destroy()
  })
}

/** Starts a handshake; rejects TLS versions and ciphers that this program does not support. */
function begin(task: ShakeTask, reject: (error: TlsError) => void): TLSSocket | undefined {
  const { host, address, port, ca, version, ciphers = ALL_CIPHERS } = task
  const wanted: ConnectionOptions = {
    host: address.address,
    port,
    servername: host,
    rejectUnauthorized: false,
    requestOCSP: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    ciphers,
    minVersion: version ?? 'TLSv1',
    maxVersion: version ?? 'TLSv1.3',
    ...compact({ ca }),
  }
  try {
    return connect(wanted)
  } catch (error) {
    reject(asTlsError(error))
    return undefined
  }
}

type Shown = { readonly host: string; readonly address: ResolvedAddress; readonly isStapled: boolean }

function seen(socket: TLSSocket, { host, address, isStapled }: Shown): Handshake {
  const certificate = socket.getPeerCertificate(true)
  const cipher = socket.getCipher()
  const key = socket.getEphemeralKeyInfo() as { type?: string; name?: string } | null // {} on resumption
  const protocol = socket.getProtocol() ?? 'unknown'
  return {
    ...address,
    protocol,
    cipher: {
      name: cipher.standardName,
      group: key?.name ?? key?.type ?? null,
      forward_secrecy: protocol === 'TLSv1.3' || /DHE/.test(cipher.standardName),
    },
    alpn: socket.alpnProtocol === false ? null : socket.alpnProtocol,
    authorized: socket.authorized,
    authorization_error: errorCodeOf(socket.authorizationError),
    // Checked here, because the handshake reports only one fault.
    is_for_host: checkServerIdentity(host, certificate) === undefined,
    chain: chainOf(certificate),
    ocsp_stapled: isStapled,
  }
}

function errorCodeOf(error: Error | string | null | undefined): string | null {
  if (!error) return null
  if (typeof error === 'string') return error
  return errnoOf(error) ?? error.message.slice(0, MAX_REASON)
}

/** The chain up to its root, which is its own issuer. Stops at a loop, which cross-signing can cause. */
function chainOf(leaf: DetailedPeerCertificate): CertificateFacts[] {
  const chain: CertificateFacts[] = []
  const known = new Set<string>()
  for (
    let at: DetailedPeerCertificate | undefined = leaf;
    at?.raw && chain.length < MAX_CHAIN;
    at = at.issuerCertificate
  ) {
    if (known.has(at.fingerprint256)) break
    known.add(at.fingerprint256)
    chain.push(factsOf(at.raw))
  }
  return chain
}

const localCodes = new Set([
  'ERR_SSL_NO_PROTOCOLS_AVAILABLE',
  'ERR_SSL_NO_CIPHER_MATCH',
  'ERR_SSL_NO_CIPHERS_AVAILABLE',
])
const plainCodes = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO'])
const unreachableCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT'])

function asTlsError(error: unknown): TlsError {
  const code = errnoOf(error) ?? ''
  if (localCodes.has(code))
    return new TlsError('local', 'This program does not support that TLS version or cipher.', error)
  if (plainCodes.has(code)) return new TlsError('plain_text', 'The server on port 443 does not use TLS.', error)
  if (unreachableCodes.has(code)) return new TlsError('unreachable', 'Nothing accepts connections on port 443.', error)
  return new TlsError('refused', 'The host refused the handshake.', error)
}
