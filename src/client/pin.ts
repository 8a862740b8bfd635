import type { TLSSocket } from 'node:tls'

/** A SHA-256 of a certificate as users type it: 32 hex pairs with or without colons, optionally after `sha256:`. */
const FINGERPRINT = /^(?:sha256:)?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})$/i
const PAIR = /[0-9A-F]{2}/g

/** Converts a typed fingerprint to pairs with colons. @returns undefined if it is invalid */
export function fingerprintOf(text: string): string | undefined {
  const digits = FINGERPRINT.exec(text.trim())?.[1]?.replaceAll(':', '').toUpperCase()
  return digits?.match(PAIR)?.join(':')
}

/** Thrown if a server's certificate is not the pinned one; nothing was sent to the server. */
export class PinMismatch extends Error {
  override readonly name = 'PinMismatch'
  readonly pinned: string
  readonly shown: string
  constructor(pinned: string, shown: string) {
    super(`the pinned certificate is ${pinned}, but the server presents ${shown}`)
    this.pinned = pinned
    this.shown = shown
  }
}

/** The certificate that a server presents. */
export type ShownCertificate = {
  readonly fingerprint: string
  /** Whether an authority that this machine trusts has signed the certificate. */
  readonly trusted: boolean
  readonly valid_to: string
}

type Patience = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined }

/** Reads a server's certificate without sending data. @throws connection errors */
export async function shownCertificate(url: URL, patience: Patience): Promise<ShownCertificate> {
  const socket = await handshake(url, patience)
  const { fingerprint256, valid_to } = socket.getPeerCertificate()
  const trusted = socket.authorized
  socket.destroy()
  return { fingerprint: fingerprint256, trusted, valid_to: new Date(valid_to).toISOString() }
}

/** Connects to a server. @throws PinMismatch, before anything is sent, if its certificate is not the pinned one */
export async function pinnedSocket(url: URL, pinned: string, patience: Patience): Promise<TLSSocket> {
  const socket = await handshake(url, patience)
  const shown = socket.getPeerCertificate().fingerprint256
  if (shown === pinned) return socket
  socket.destroy()
  throw new PinMismatch(pinned, shown)
}

/** SHA-256 of the public key in the pinned certificate, in base64, for curl. @throws PinMismatch */
export async function pinnedKey(url: URL, pinned: string, patience: Patience): Promise<string> {
  const socket = await pinnedSocket(url, pinned, patience)
  const { X509Certificate, createHash } = process.getBuiltinModule('node:crypto')
  const { publicKey } = new X509Certificate(socket.getPeerCertificate().raw)
  socket.destroy()
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64')
}

/** Accepts any certificate: the caller checks it. Resumes no session, since a resumed one shows no certificate. */
function handshake(url: URL, { timeoutMs, signal }: Patience): Promise<TLSSocket> {
  // A static import would load the module in every command.
  const { connect } = process.getBuiltinModule('node:tls')
  const { isIP } = process.getBuiltinModule('node:net')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port || '443'),
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
    })
    const end = (error: Error) => socket.destroy(error)
    const aborted = () => end(Object.assign(new Error('aborted'), { name: 'AbortError' }))
    const timer = timeoutMs > 0 ? setTimeout(() => end(new HandshakeTimeout()), timeoutMs) : undefined
    const over = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
    }
    socket.once('secureConnect', () => {
      over()
      socket.off('error', failed)
      resolve(socket)
    })
    const failed = (error: Error) => {
      over()
      reject(error)
    }
    socket.once('error', failed)
    if (signal?.aborted) aborted()
    else signal?.addEventListener('abort', aborted, { once: true })
  })
}

export class HandshakeTimeout extends Error {}
