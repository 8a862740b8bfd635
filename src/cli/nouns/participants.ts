import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { bold } from '../../text/text.ts'
import type { Io } from '../io.ts'

export type Participant = WireAnswer<Api['getParticipant']>

export function showParticipant(participant: Participant, io: Io): void {
  const { id, name, type, wallet, verification_tier, description, capabilities, created_at } = participant
  io.line(`${bold(name)}   ${id}   ${type}   ${verification_tier}`)
  io.line(`  wallet    ${wallet}`)
  if (description !== '') io.line(`  about     ${description}`)
  if (capabilities.length > 0) io.line(`  can       ${capabilities.join(', ')}`)
  io.line(`  since     ${created_at}`)
}
