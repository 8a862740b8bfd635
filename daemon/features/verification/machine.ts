import { type AttemptStatus, attemptStatuses } from '../../../src/model/words.ts'
import { defineMachine } from '../../kernel/machine.ts'
import type { AttemptRow } from './rows.ts'

/** Verification state machine (decisions §6). `set_tier` marks the participant as identity-verified. */
export const verificationMachine = defineMachine({
  noun: 'verification',
  states: attemptStatuses,
  transitions: [
    { event: 'consent', from: ['pending_consent'], to: 'vendor_pending', by: ['operator'], effects: ['use_token'] },
    { event: 'approve', from: ['vendor_pending'], to: 'approved', by: ['vendor'], effects: ['set_tier'] },
    { event: 'reject', from: ['vendor_pending'], to: 'rejected', by: ['vendor'], effects: [] },
    { event: 'expire', from: ['pending_consent', 'vendor_pending'], to: 'expired', by: ['system'], effects: [] },
  ],
})

type VerificationTransition = (typeof verificationMachine)['transitions'][number]
export type VerificationEvent = VerificationTransition['event']
/** Who acts on an attempt. `operator` is the responsible human, identified by the consent token. */
export type VerificationRole = 'operator' | 'vendor' | 'system'

export type Times = { readonly now: number; readonly wall: number }
type Dated = Pick<AttemptRow, 'status' | 'live' | 'expires_at' | 'token_expires_at'>

/** Whether an attempt or its unused token has expired. */
export function isOverdue({ status, live, expires_at, token_expires_at }: Dated, { now, wall }: Times): boolean {
  if (!live) return false
  return expires_at <= now || (status === 'pending_consent' && token_expires_at <= wall)
}

/** Status at a time. An overdue attempt counts as expired even before the cron ran. */
export function attemptStatusAt(attempt: Dated, times: Times): AttemptStatus {
  return isOverdue(attempt, times) ? 'expired' : attempt.status
}
