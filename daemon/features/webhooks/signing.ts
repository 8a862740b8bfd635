import type { ParticipantRow } from '../../kernel/rows.ts'

/** Secrets to sign with: after a rotation the old one counts for a day (decisions §6). */
export function secretsOf(
  { webhook_secret, previous_webhook_secret: previous }: ParticipantRow,
  wall: number,
): readonly string[] {
  return previous && wall < previous.until ? [webhook_secret, previous.secret] : [webhook_secret]
}
