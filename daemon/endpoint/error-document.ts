import { STATUS_CODES } from 'node:http'
import type { AppError } from '../../src/core/error.ts'
import { compact } from '../../src/core/record.ts'

/** Body of every error. Existing x402 clients print `error`, so it holds the sentence; programs read `code`. */
export function errorDocument(error: AppError, requestId: string): Record<string, unknown> {
  return {
    error: error.message,
    code: error.code,
    message: error.message,
    request_id: requestId,
    ...(error.details
      ? { details: error.details.map(({ path, message }) => ({ path: path || 'body', message })) }
      : {}),
    ...compact({ retry_after: error.retryAfter }),
    ...error.extra,
  }
}

/**
 * RFC 9457 form of an error, for `Accept: application/problem+json`. It has the members `error` and `message`, too, so
 * clients can read both forms alike.
 */
export function problemDocument(error: AppError, requestId: string): Record<string, unknown> {
  const form = { type: 'about:blank', title: STATUS_CODES[error.status], status: error.status, detail: error.message }
  return { ...errorDocument(error, requestId), ...form }
}
