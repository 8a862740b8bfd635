import type { z } from 'zod'
import { Attempt } from '../../../src/api/sections/verification.ts'
import { pick } from '../../../src/core/record.ts'
import { emit } from '../../events/event-log.ts'
import { transition } from '../../kernel/machine.ts'
import { participants } from '../../kernel/rows.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import {
  attemptStatusAt,
  type Times,
  type VerificationEvent,
  type VerificationRole,
  verificationMachine,
} from './machine.ts'
import { type AttemptRow, attempts } from './rows.ts'

/** The view of an attempt for its participant and the administrator. `times` decides whether it has expired. */
export function attemptView(row: AttemptRow, times: Times): z.output<typeof Attempt> {
  const status = attemptStatusAt(row, times)
  const endedAt = row.ended_at ?? (status === 'expired' ? row.expires_at : null)
  return { ...pick(row, Attempt.shape), attempt_id: row.id, status, ended_at: endedAt }
}

export async function liveAttempt(t: ReadTx, participantId: string): Promise<AttemptRow | undefined> {
  return (await t.table(attempts).page('live', [participantId], { limit: 1 })).rows[0]
}

type Step = Times & {
  /** The attempt, locked by this transaction. */
  readonly attempt: AttemptRow
  readonly event: VerificationEvent
  readonly by: VerificationRole
  readonly change?: Partial<
    Pick<AttemptRow, 'operator_name' | 'consented_at' | 'vendor_session' | 'vendor_url' | 'reason'>
  >
}

/**
 * The only function that changes an attempt's state. Also updates the participant's tier if necessary.
 * @throws AppError 409 `invalid_transition`, before anything is written
 */
export async function stepAttempt(t: Tx, draw: Draw, step: Step): Promise<AttemptRow> {
  const { attempt, event, by, now, wall, change = {} } = step
  // `expire` needs the stored status. For all other events, an overdue attempt counts as expired.
  const from = event === 'expire' ? attempt.status : attemptStatusAt(attempt, { now, wall })
  const { to, effects } = transition(verificationMachine, { event, from, by })
  const live = to === 'vendor_pending'
  const changed = await t
    .table(attempts)
    .put({ ...attempt, ...change, status: to, live, token_hash: null, ended_at: live ? null : now })
  if (effects.some((effect) => effect === 'set_tier')) await setTier(t, attempt.participant_id, now)
  await emitAttempt(t, draw, { attempt: changed, at: now })
  return changed
}

async function setTier(t: Tx, participantId: string, now: number): Promise<void> {
  const row = await t.table(participants).getForUpdate(participantId)
  if (!row) throw new Error(`${participantId} is not a participant`)
  await t.table(participants).put({ ...row, verification_tier: 'identity_verified', updated_at: now })
}

/** Emits an event for an attempt. The event omits the name of the person who consented. */
export async function emitAttempt(
  t: Tx,
  draw: Draw,
  { attempt, at }: { readonly attempt: AttemptRow; readonly at: number },
): Promise<void> {
  const { id, participant_id: participantId, status, reason } = attempt
  const data = { attempt_id: id, status, ...(reason === null ? {} : { reason }) }
  await emit(t, draw, {
    type: `verification.${status}`,
    participantId,
    subject: { kind: 'verification', id },
    data,
    at,
  })
}
