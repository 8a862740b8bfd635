const refused = [
  'url_invalid',
  'scheme_refused',
  'port_refused',
  'credentials_refused',
  'address_refused',
  'downgrade_refused',
  'too_many_redirects',
  'robots_refused',
] as const
/** Failures of web requests; those in `refused` are the caller's fault. */
export const webFailures = [
  ...refused,
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timeout',
  'aborted',
  'too_large',
  'encoding_refused',
  'broken',
] as const
export type WebFailure = (typeof webFailures)[number]

const refusals: ReadonlySet<WebFailure> = new Set(refused)
const beforeSending: ReadonlySet<WebFailure> = new Set(['dns_failed', 'connect_failed', 'tls_failed'])

/** A failed request; the message is public and never reveals resolved addresses. */
export class WebError extends Error {
  override readonly name = 'WebError'
  readonly failure: WebFailure

  constructor(failure: WebFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.failure = failure
  }

  /** Whether the URL was refused, so that a retry is useless. */
  get isRefusal(): boolean {
    return refusals.has(this.failure)
  }

  /** Whether nothing was sent, so that a retry is safe. */
  get wasNeverSent(): boolean {
    return beforeSending.has(this.failure)
  }
}

const timeouts: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])
/** Node's transport error codes. */
const transport: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EPIPE',
  'UND_ERR_CONNECT_TIMEOUT',
])

export function asWebError(error: unknown, { connected, isTls }: { connected: boolean; isTls: boolean }): WebError {
  if (error instanceof WebError) return error
  const code = codeOf(error)
  const options = { cause: error }
  if (timeouts.has(code)) return new WebError('timeout', 'The server did not respond in time.', options)
  if (connected) return new WebError('broken', 'The connection closed before the response was complete.', options)
  if (isTls && !transport.has(code)) return new WebError('tls_failed', 'TLS or the certificate check failed.', options)
  return new WebError('connect_failed', 'The host does not accept a connection.', options)
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}
