import type { DueWork } from '../../crons/due-work.ts'
import { expireAttempt, nextExpiry, overdueAttempts } from './expiry.ts'

/** Attempts of verification that nobody went on with. */
export const verificationWork: DueWork = {
  name: 'verification.expire',
  due: overdueAttempts,
  run: expireAttempt,
  nextDue: nextExpiry,
}
