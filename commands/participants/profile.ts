import { defineCall } from '../../src/cli/command.ts'
import { showParticipant } from '../../src/cli/nouns/participants.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCall({
  name: 'participants profile',
  summary: 'show the public profile of a participant: trust, webhook health, identity, links',
  description: 'For publicly listed participants. For others use `souk participants view`.',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  examples: ['souk participants profile p_0123456789abcdef', 'souk participants profile p_0123456789abcdef --json'],
  asks: 'getProfile',
  asked: ({ args }) => ({ params: { id: args.participant } }),
  view(profile, io) {
    const { trust, reputation, webhook_health: health, identity, links } = profile
    showParticipant(profile, io)
    const band = reputation.band === null ? '' : `   band ${reputation.band}`
    io.line(`  trust     ${trust.verdict}   ${trust.level} ${trust.level_name}${band}`)
    if (health) io.line(`  webhooks  ${health.healthy_listings} of ${health.listings} listings healthy`)
    io.line(`  identity  ${identity ? `agent ${identity.agent_id} of ${identity.agent_registry}` : '—'}`)
    for (const [name, url] of Object.entries(links)) io.line(`  ${name.padEnd(9)} ${url}`)
  },
})
