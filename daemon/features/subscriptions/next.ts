import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { SubscriptionDueEvent } from '../../../src/model/words.ts'
import type { SubscriptionRow } from './rows.ts'

/** A charge that failed is tried again this long after its first failure; after the last try it is over. */
const RETRIES_MS = [DAY_MS, 2 * DAY_MS, 3 * DAY_MS] as const
/** Two tries of one charge are never closer, though the times of several may have passed unwatched. */
const SHORTEST_RETRY_MS = DAY_MS
/** An active subscription goes on for this long after its period, until the next run has charged it. */
export const RENEWAL_GRACE_MS = 15 * MINUTE_MS

/** Whether a failed charge was the last one that is tried; `failures` with it. */
export function isLastTry(failures: number): boolean {
  return failures > RETRIES_MS.length
}

export type NextSubscriptionEvent = { readonly event: SubscriptionDueEvent; readonly at: number }
type Facts = Pick<
  SubscriptionRow,
  'status' | 'cancel_at_period_end' | 'current_period_end' | 'lapsed' | 'failures' | 'past_due_since'
>

/** What happens to a subscription by itself after it came to be as it is at `at`; null when nothing does. */
export function nextOf(facts: Facts, at: number): NextSubscriptionEvent | null {
  const { status, cancel_at_period_end: isEnding, current_period_end: end, lapsed } = facts
  switch (status) {
    case 'active':
      if (isEnding) return { event: 'lapse', at: end }
      return { event: 'renew', at: lapsed ? at : end }
    case 'paused':
      return end > at || isEnding ? { event: 'lapse', at: end } : null
    case 'past_due':
      return { event: 'renew', at: retryAt(facts, at) }
    case 'canceled':
    case 'expired':
      return null
  }
}

function retryAt({ failures, past_due_since: since }: Facts, at: number): number {
  const delay = RETRIES_MS[failures - 1] ?? SHORTEST_RETRY_MS
  return Math.max((since ?? at) + delay, at + SHORTEST_RETRY_MS)
}

/**
 * Whether a subscription pays for its services now: in its paid period, and, where it is about to be charged
 * for the next one, until the run that does it.
 */
export function hasAccess(facts: Omit<Facts, 'failures' | 'past_due_since'>, now: number): boolean {
  const { status, cancel_at_period_end: isEnding, current_period_end: end, lapsed } = facts
  if (status !== 'active' && status !== 'paused') return false
  const isAwaited = status === 'active' && !isEnding && !lapsed
  return now < end + (isAwaited ? RENEWAL_GRACE_MS : 0)
}
