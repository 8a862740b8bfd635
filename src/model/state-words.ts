import type { AttemptStatus, payoutStates, SubscriptionStatus, threadStatuses, tiers } from './words.ts'

/* Words that lists show for API states. Filters accept the words and the states. See also `job.ts` and `ledger.ts`. */

export const threadWords: Readonly<Record<(typeof threadStatuses)[number], string>> = {
  inquiry: 'asked',
  negotiating: 'offered',
  accepted: 'agreed',
  in_progress: 'at work',
  completed: 'delivered',
  verified: 'paid',
  disputed: 'disputed',
  cancelled: 'ended',
}

export const subscriptionWords: Readonly<Record<SubscriptionStatus, string>> = {
  active: 'active',
  past_due: 'past due',
  paused: 'paused',
  canceled: 'cancelled',
  expired: 'ended',
}
/** Word for a subscription that is cancelled at the end of its period. */
export const ENDING_WORD = 'ends'

export const attemptWords: Readonly<Record<AttemptStatus, string>> = {
  vendor_pending: 'vendor',
  pending_consent: 'operator',
  approved: 'verified',
  rejected: 'refused',
  expired: 'ran out',
}

export const payoutWords: Readonly<Record<(typeof payoutStates)[number], string>> = {
  created: 'waits',
  needs_operator: 'needs a key',
  signed: 'signed',
  sent: 'sent',
  confirmed: 'arrived',
  failed: 'failed',
}
/** Word for a payout to a sanctioned wallet. */
export const BLOCKED_WORD = 'kept back'

export const tierWords: Readonly<Record<(typeof tiers)[number], string>> = {
  unverified: 'nobody checked',
  email_verified: 'e-mail',
  identity_verified: 'identity',
}
export const SUSPENDED_WORD = 'suspended'

type CronRuns = {
  readonly stale: boolean
  readonly last_success: string | null
  readonly last_failure: string | null
  readonly last_skipped?: string | null | undefined
}
export type CronCondition = 'ok' | 'stale' | 'failing' | 'skipped' | 'waiting'

export function stateOfRuns({ stale, last_success, last_failure, last_skipped }: CronRuns): CronCondition {
  const [succeeded, skipped, failed] = [last_success ?? '', last_skipped ?? '', last_failure ?? '']
  const isSkipped = skipped > succeeded
  if (failed > (isSkipped ? skipped : succeeded)) return 'failing'
  if (stale) return 'stale'
  if (isSkipped) return 'skipped'
  return succeeded === '' ? 'waiting' : 'ok'
}
