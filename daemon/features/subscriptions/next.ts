import { DAY_MS, MINUTE_MS } from '../../../src/core/time.ts'
import type { SubscriptionDueEvent } from '../../../src/model/words.ts'
import type { SubscriptionRow } from './rows.ts'

/** Retry times after the first failed charge; the last failure ends the subscription. */
const RETRIES_MS = [DAY_MS, 2 * DAY_MS, 3 * DAY_MS] as const
/** Minimum time between retries, even if scheduled times were missed. */
const SHORTEST_RETRY_MS = DAY_MS
/** Grace time after a period, until the next run charges the new one. */
export const RENEWAL_GRACE_MS = 15 * MINUTE_MS

export function isLastTry(failures: number): boolean {
  return failures > RETRIES_MS.length
}

export type NextSubscriptionEvent = { readonly event: SubscriptionDueEvent; readonly at: number }
type Facts = Pick<
  SubscriptionRow,
  'status' | 'cancel_at_period_end' | 'current_period_end' | 'lapsed' | 'failures' | 'past_due_since'
>

/** The next automatic event of a subscription that was written at `at`; null if none. */
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

/** Whether a subscription gives access now: in its paid period, or in the grace time before a charge. */
export function hasAccess(facts: Omit<Facts, 'failures' | 'past_due_since'>, now: number): boolean {
  const { status, cancel_at_period_end: isEnding, current_period_end: end, lapsed } = facts
  if (status !== 'active' && status !== 'paused') return false
  const isAwaited = status === 'active' && !isEnding && !lapsed
  return now < end + (isAwaited ? RENEWAL_GRACE_MS : 0)
}
