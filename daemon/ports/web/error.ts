/**
 * Why a request to the web came to nothing. The first group is the asker's to mend: the URL is refused before or
 * while it is followed. `dns_failed`, `connect_failed` and `tls_failed` happened before a byte of the request left.
 */
export const webFailures = [
  'url_invalid',
  'scheme_refused',
  'port_refused',
  'credentials_refused',
  'address_refused',
  'downgrade_refused',
  'too_many_redirects',
  'robots_refused',
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

const refusals: ReadonlySet<WebFailure> = new Set([
  'url_invalid',
  'scheme_refused',
  'port_refused',
  'credentials_refused',
  'address_refused',
  'downgrade_refused',
  'too_many_redirects',
  'robots_refused',
])

const beforeSending: ReadonlySet<WebFailure> = new Set(['dns_failed', 'connect_failed', 'tls_failed'])

/** One failed request; the message is safe to show to a stranger: it never tells what a name resolved to. */
export class WebError extends Error {
  override readonly name = 'WebError'
  readonly failure: WebFailure

  constructor(failure: WebFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.failure = failure
  }

  /** The URL itself is at fault: asking again changes nothing. */
  get isRefusal(): boolean {
    return refusals.has(this.failure)
  }

  /** Nothing was sent, so the request may be made again without harm. */
  get wasNeverSent(): boolean {
    return beforeSending.has(this.failure)
  }
}
