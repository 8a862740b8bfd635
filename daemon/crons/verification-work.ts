import { expireAttempt, nextExpiry, overdueAttempts } from '../verification/expiry.ts'
import type { DueWork } from './due-work.ts'

/** Attempts of verification that nobody went on with. */
export const verificationWork: DueWork = {
  name: 'verification.expire',
  due: overdueAttempts,
  run: expireAttempt,
  nextDue: nextExpiry,
}
