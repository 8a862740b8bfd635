import { type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { ReadTx, Tx } from '../../store/port.ts'
import { services } from './rows.ts'

/** Whether a participant is publicly listed: as it said itself, else while it has an active listing (decisions §6). */
export async function isListed(t: ReadTx, row: Pick<ParticipantRow, 'id' | 'listable' | 'type'>): Promise<boolean> {
  if (row.listable !== null) return row.listable
  return row.type !== 'agent' && (await t.table(services).count('provider', [row.id, 'active'])) > 0
}

/** To be called after a listing was written: the provider's place in the directory may have changed. */
export async function refreshDirectory(t: Tx, participantId: string): Promise<void> {
  const row = await t.table(participants).getForUpdate(participantId)
  if (!row) throw new Error(`${participantId} is no participant`)
  const listed = await isListed(t, row)
  if (listed !== row.in_directory) await t.table(participants).put({ ...row, in_directory: listed })
}
