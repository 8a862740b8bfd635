import type { WireAnswer } from '../../src/api/endpoint.ts'
import type { Api } from '../../src/api/index.ts'
import type { Io } from '../../src/cli/io.ts'
import { bold } from '../../src/cli/text.ts'

export type Participant = WireAnswer<Api['getParticipant']>

export function showParticipant(participant: Participant, io: Io): void {
  const { id, name, type, wallet, verification_tier, description, capabilities, created_at } = participant
  io.line(`${bold(name)}   ${id}   ${type}   ${verification_tier}`)
  io.line(`  wallet    ${wallet}`)
  if (description !== '') io.line(`  about     ${description}`)
  if (capabilities.length > 0) io.line(`  can       ${capabilities.join(', ')}`)
  io.line(`  since     ${created_at}`)
}
