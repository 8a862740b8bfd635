import { AppError } from '../src/core/error.ts'
import type { ParticipantRow } from '../src/model/participant.ts'

/** @throws AppError 403 when an administrator suspended the participant. */
export function refuseSuspended(participant: Pick<ParticipantRow, 'suspended_at'> | null): void {
  if (!participant || participant.suspended_at === null) return
  throw new AppError('forbidden', 'This participant is suspended: it may read, and nothing else.')
}
