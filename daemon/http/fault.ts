import { AppError, invalidField } from '../../src/core/error.ts'
import { MAX_BODY_BYTES } from '../../src/core/limits.ts'
import { StoreStopped } from '../store/errors.ts'

/** `type` of the error for costly JSON. Errors of the body parser have a `type`, too. */
export const COSTLY_JSON = 'json.costly'

/** Converters for errors of body parser and router, by error type. */
const known: Readonly<Record<string, (said: string) => AppError>> = {
  [COSTLY_JSON]: (part) => invalidField('body', part),
  'entity.parse.failed': () => new AppError('invalid_request', 'The body is not valid JSON.'),
  'entity.too.large': () => new AppError('too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`),
  'encoding.unsupported': () => new AppError('unsupported_media_type', 'The content encoding is not supported.'),
  'charset.unsupported': () => new AppError('unsupported_media_type', 'The charset is not supported: use UTF-8.'),
  'request.size.invalid': () => new AppError('invalid_request', 'The body length differs from Content-Length.'),
  'request.aborted': () => new AppError('invalid_request', 'The request was aborted.'),
}

/** Converts any thrown value into a public error; undefined for an internal fault. */
export function refusalOf(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof StoreStopped)
    return new AppError('unavailable', 'The store stopped; the daemon is shutting down.')
  if (error instanceof URIError)
    return new AppError('invalid_request', 'The path contains an invalid percent-encoding.')
  const type = typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : ''
  const make = known[type]
  if (make) return make(error instanceof Error ? error.message : '')
  const status = typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 500
  return status >= 400 && status < 500 ? new AppError('invalid_request', 'The request is malformed.') : undefined
}
