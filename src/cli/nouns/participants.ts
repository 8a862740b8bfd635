import type { WireAnswer } from '../../api/index.ts'
import { bold, green, yellow } from '../../text/text.ts'
import type { Io } from '../io.ts'
import * as z from '../params.ts'

export type Participant = WireAnswer<'getParticipant'>

export function showParticipant(participant: Participant, io: Io): void {
  const { id, name, type, wallet, verification_tier, description, capabilities, created_at } = participant
  const { webhook_url: webhook } = participant
  io.line(`${bold(name)}   ${id}   ${type}   ${verification_tier}`)
  io.line(`  wallet    ${wallet}`)
  if (description !== '') io.line(`  about     ${description}`)
  if (capabilities.length > 0) io.line(`  can       ${capabilities.join(', ')}`)
  if (webhook !== undefined) io.line(`  webhook   ${webhook ?? 'none'}`)
  if (participant.endpoint_header)
    io.line(`  header    ${participant.endpoint_header}   (sent to your endpoints; its value is not shown)`)
  io.line(`  since     ${created_at}`)
}

/** A participant as the administrator sees it. */
export type ParticipantStanding = WireAnswer<'setParticipant'>

export const whose = { participant: z.string().meta({ description: 'id of the participant' }) }
export const why = z.object({ reason: z.string().meta({ description: 'reason, for the log', value: 'text' }) })

export function showStanding({ id, name, verification_tier, suspended_at: since }: ParticipantStanding, io: Io): void {
  const sign = since === null ? green('✓') : yellow('‖')
  io.line(
    `${sign} ${bold(name)}   ${id}   ${verification_tier}   ${since === null ? 'in good standing' : `suspended since ${since}`}`,
  )
}
