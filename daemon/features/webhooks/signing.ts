import type { ParticipantRow } from '../../kernel/rows.ts'

/** The secrets that sign messages. For a day after a rotation, these are the new and the old one (decisions §6). */
export function secretsOf(
  { webhook_secret, previous_webhook_secret: previous }: ParticipantRow,
  wall: number,
): readonly string[] {
  return previous && wall < previous.until ? [webhook_secret, previous.secret] : [webhook_secret]
}
