import type { ParticipantRow } from '../../kernel/rows.ts'

/** Secrets to sign with: for a day after a rotation, the old and the new one (decisions §6). */
export function secretsOf(
  { webhook_secret, previous_webhook_secret: previous }: ParticipantRow,
  wall: number,
): readonly string[] {
  return previous && wall < previous.until ? [webhook_secret, previous.secret] : [webhook_secret]
}
