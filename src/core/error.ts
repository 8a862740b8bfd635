/** Error codes with HTTP status and exit code (decisions §2); everything else derives from this table. */
export const errorCodes = {
  invalid_request: { status: 400, exit: 2 },
  input_invalid: { status: 400, exit: 2 },
  invalid_event: { status: 400, exit: 2 },
  unauthorized: { status: 401, exit: 4 },
  payment_required: { status: 402, exit: 5 },
  insufficient_balance: { status: 402, exit: 5 },
  forbidden: { status: 403, exit: 4 },
  terms_required: { status: 403, exit: 4 },
  registration_required: { status: 403, exit: 4 },
  sanctioned: { status: 403, exit: 12 },
  not_found: { status: 404, exit: 3 },
  method_not_allowed: { status: 405, exit: 1 },
  conflict: { status: 409, exit: 6 },
  invalid_transition: { status: 409, exit: 6 },
  idempotency_mismatch: { status: 409, exit: 6 },
  quote_required: { status: 409, exit: 6 },
  deferred: { status: 410, exit: 9 },
  too_large: { status: 413, exit: 2 },
  unsupported_media_type: { status: 415, exit: 2 },
  misdirected: { status: 421, exit: 1 },
  rate_limited: { status: 429, exit: 7 },
  headers_too_large: { status: 431, exit: 2 },
  request_timeout: { status: 408, exit: 1 },
  internal: { status: 500, exit: 1 },
  provider_failed: { status: 502, exit: 1 },
  paused: { status: 503, exit: 7 },
  not_built_yet: { status: 503, exit: 7 },
  unavailable: { status: 503, exit: 7 },
} as const satisfies Record<string, { status: number; exit: number }>

export type ErrorCode = keyof typeof errorCodes

/** An invalid field. `path` is dotted, or `""` for the whole body. */
export type ErrorDetail = { path: string; message: string }

/** System error code, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Members of every error, in our form (decisions §2) or as problem details (RFC 9457, section 3.1). */
type CommonMember =
  | 'error'
  | 'code'
  | 'message'
  | 'details'
  | 'retry_after'
  | 'type'
  | 'title'
  | 'status'
  | 'detail'
  | 'instance'

/** Extra members of an error; none may have the name of a common member. */
type ExtraMembers = Readonly<Record<string, unknown>> & { readonly [name in CommonMember]?: never }

export type ErrorFacts = {
  details?: readonly ErrorDetail[]
  /** Retry delay in seconds, also sent as `Retry-After`. */
  retryAfter?: number
  /** Extra members, which depend on the code: `from`, `to`, `allowed`, `feature`, … */
  extra?: ExtraMembers
  cause?: unknown
}

/** The work failed, and why; the message is public. */
export class WorkError<F extends string> extends Error {
  readonly failure: F

  constructor(failure: F, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.failure = failure
  }
}

/** An error that modules may throw to each other. Its message is public. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  readonly retryAfter: number | undefined
  readonly extra: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.details = facts.details
    this.retryAfter = facts.retryAfter
    this.extra = facts.extra ?? {}
  }

  get status(): number {
    return errorCodes[this.code].status
  }
}

export function invalidField(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { details: [{ path, message }] })
}

/** The value. @throws AppError 404 when there is none */
export function existing<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw notFound(what)
  return value
}

export function notFound(what: string): AppError {
  return new AppError('not_found', `${what} was not found.`)
}

/** What `act` returns; undefined if it throws. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
