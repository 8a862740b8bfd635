import type { z } from 'zod'
import { type OwnParticipant, Participant } from '../../../src/api/sections/participants.ts'
import { pick } from '../../../src/core/record.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'

export function participantView(row: ParticipantRow): z.output<typeof Participant> {
  return {
    ...pick(row, Participant.shape),
    participant_id: row.id,
  }
}

/** A participant's own view. The webhook secret appears only in the response to its rotation. */
export function ownParticipantView(row: ParticipantRow, rotated: boolean): z.output<typeof OwnParticipant> {
  return {
    ...participantView(row),
    webhook_url: row.webhook_url,
    endpoint_header: row.endpoint_header?.name ?? null,
    listable: row.listable,
    in_directory: row.in_directory,
    terms_version: row.terms_version,
    updated_at: row.updated_at,
    ...(rotated ? { webhook_secret: row.webhook_secret } : {}),
    ...(rotated && row.previous_webhook_secret ? { previous_secret_until: row.previous_webhook_secret.until } : {}),
  }
}
