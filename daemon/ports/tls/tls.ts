import {
  type ConnectionOptions,
  checkServerIdentity,
  connect,
  type DetailedPeerCertificate,
  type SecureVersion,
  type TLSSocket,
} from 'node:tls'
import { compact } from '../../../src/core/record.ts'
import type { ResolvedAddress } from '../web/connect.ts'
import { type CertificateFacts, factsOf } from './certificate.ts'

/** Shakes hands with the TLS of a public host on port 443 and reads what it shows; nothing is sent over it. */
export type Tls = {
  /** @throws TlsError when there is no handshake, WebError for a host that must not be asked. */
  readonly handshake: (host: string, how?: HandshakeOptions) => Promise<Handshake>
}

export type HandshakeOptions = {
  /** The only version offered; all that this program speaks unless given. */
  readonly version?: SecureVersion
  /** Cipher suites offered, in the words of OpenSSL; they name the least security level too. */
  readonly ciphers?: string
  readonly signal?: AbortSignal
}

export type Handshake = {
  readonly address: string
  readonly family: 4 | 6
  readonly protocol: string
  readonly cipher: { readonly name: string; readonly group: string | null; readonly forward_secrecy: boolean }
  readonly alpn: string | null
  readonly authorized: boolean
  /** Code of OpenSSL or Node for why it is not trusted. */
  readonly authorization_error: string | null
  /** Whether the certificate is for the host, whatever else is wrong with it. */
  readonly is_for_host: boolean
  /** As the host sent it, its own first; a root that this machine added is marked. */
  readonly chain: readonly CertificateFacts[]
  readonly ocsp_stapled: boolean
}

/** `local`: this program does not speak it, so nothing is known; `refused`: the host does not. */
export type TlsFailure = 'local' | 'refused' | 'plain_text' | 'unreachable' | 'timeout'

export class TlsError extends Error {
  override readonly name = 'TlsError'
  readonly failure: TlsFailure

  constructor(failure: TlsFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
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
const HANDSHAKE_MS = 5_000
const MAX_CHAIN = 10
/** Everything is offered, so that what is old fails at the host and not here. */
const ALL_CIPHERS = 'ALL:@SECLEVEL=0'

export function openTls(options: TlsOptions): Tls {
  async function handshake(host: string, how: HandshakeOptions = {}): Promise<Handshake> {
    const [address] = await options.resolve(host)
    if (!address) throw new TlsError('unreachable', 'The host name has no address.')
    return shake({ host, address, options, how })
  }
  return { handshake }
}

type Parts = {
  readonly host: string
  readonly address: ResolvedAddress
  readonly options: TlsOptions
  readonly how: HandshakeOptions
}

async function shake({ host, address, options, how }: Parts): Promise<Handshake> {
  const late = AbortSignal.timeout(HANDSHAKE_MS)
  const signal = how.signal ? AbortSignal.any([how.signal, late]) : late
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>()
  let isStapled = false
  const socket = begin({ host, address, options, how }, reject)
  const onAbort = () => reject(new TlsError('timeout', 'The host did not finish the handshake in time.'))
  signal.addEventListener('abort', onAbort, { once: true })
  socket?.on('error', (error) => reject(asTlsError(error)))
  socket?.on('close', () => reject(new TlsError('refused', 'The host hung up during the handshake.')))
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
    signal.removeEventListener('abort', onAbort)
    socket?.destroy()
  })
}

/** What this program cannot offer is thrown at once. */
function begin({ host, address, options, how }: Parts, reject: (error: TlsError) => void): TLSSocket | undefined {
  const wanted: ConnectionOptions = {
    host: address.address,
    port: options.port ?? HTTPS_PORT,
    servername: host,
    rejectUnauthorized: false,
    requestOCSP: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    ciphers: how.ciphers ?? ALL_CIPHERS,
    minVersion: how.version ?? 'TLSv1',
    maxVersion: how.version ?? 'TLSv1.3',
    ...compact({ ca: options.ca }),
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
    // Of several faults the handshake names one.
    is_for_host: checkServerIdentity(host, certificate) === undefined,
    chain: chainOf(certificate),
    ocsp_stapled: isStapled,
  }
}

function errorCodeOf(error: Error | string | null | undefined): string | null {
  if (!error) return null
  if (typeof error === 'string') return error
  return codeOf(error) ?? error.message
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The root is its own issuer; a cross-signed chain may come back to itself. */
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
  const code = codeOf(error) ?? ''
  if (localCodes.has(code)) return new TlsError('local', 'This program does not speak that.', error)
  if (plainCodes.has(code)) return new TlsError('plain_text', 'What answers on port 443 does not speak TLS.', error)
  if (unreachableCodes.has(code)) return new TlsError('unreachable', 'Nothing accepts connections on port 443.', error)
  return new TlsError('refused', 'The host refused the handshake.', error)
}
