import { AppError } from '../../src/core/error.ts'
import type { Switched } from './context.ts'

/** Seconds after which a paused endpoint may be tried again. */
const PAUSED_RETRY_SECONDS = 60

type Paused = Pick<Switched, 'pausedAt' | 'pausedReason'>

/** The 503 of what stops while paid activity is paused (decisions §12). */
export function paused({ pausedAt: since, pausedReason: reason }: Paused): AppError {
  const when = since === null ? '' : ` since ${new Date(since).toISOString()}`
  return new AppError('paused', `Paid activity is paused${when}; nothing was charged. Reads go on.`, {
    retryAfter: PAUSED_RETRY_SECONDS,
    extra: { paused_at: since === null ? null : new Date(since).toISOString(), reason },
  })
}
