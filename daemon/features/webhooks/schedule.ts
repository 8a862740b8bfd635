import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { DeliveryState } from '../../../src/model/delivery.ts'

/** Delay before each attempt (decisions §10). */
export const RETRY_DELAYS_MS: readonly number[] = [
  0,
  SECOND_MS,
  2 * SECOND_MS,
  30 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
]
/** Maximum random extra time as a share of a delay. It spreads retries after an outage. */
const JITTER_SHARE = 0.2
const MAX_RETRY_AFTER_MS = DAY_MS
/** Status 410: the endpoint is gone permanently. */
const GONE_STATUS = 410

export type DeliveryOutcome = {
  readonly ok: boolean
  readonly status: number | null
  /** Requested retry delay. */
  readonly retryAfterMs: number | null
}

export type NextAttempt = {
  readonly state: Exclude<DeliveryState, 'dropped'>
  readonly nextAt: number | null
  readonly reason: string | null
}

export function isGone(outcome: DeliveryOutcome): boolean {
  return outcome.status === GONE_STATUS
}

type Situation = {
  /** Number of attempts, including this one. */
  readonly tries: number
  readonly maxTries: number
  readonly now: number
  /** Random value from 0 to 1. */
  readonly jitter: number
}

/** Next step after an attempt: delivered, dead, or a retry not earlier than the endpoint's `Retry-After`. */
export function afterTry(outcome: DeliveryOutcome, { tries, maxTries, now, jitter }: Situation): NextAttempt {
  if (outcome.ok) return { state: 'delivered', nextAt: null, reason: null }
  if (isGone(outcome)) return { state: 'dead', nextAt: null, reason: 'the endpoint returned 410 (gone)' }
  const delay = tries < maxTries ? RETRY_DELAYS_MS[tries] : undefined
  if (delay === undefined)
    return { state: 'dead', nextAt: null, reason: `failed after ${tries} ${tries === 1 ? 'try' : 'tries'}` }
  const asked = Math.min(outcome.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  const scheduled = Math.max(delay, asked)
  return { state: 'pending', nextAt: now + scheduled + Math.floor(delay * JITTER_SHARE * jitter), reason: null }
}

/** Converts a `Retry-After` header (seconds or a date) to milliseconds; null if absent. */
export function retryAfterMs(header: string | undefined, wall: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - wall)
}
