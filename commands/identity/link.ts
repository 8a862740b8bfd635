import { andJson, defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'identity link',
  summary: 'link the ERC-8004 identity that your wallet owns',
  description:
    'Replaces an earlier link. In the sandbox, `souk wallet fund --identity` registers an identity and prints its registry and id.',
  options: z.object({
    agentId: z.string().meta({ description: 'id in the registry, 0 or more', value: 'number' }),
    registry: z.string().meta({ description: 'eip155:<chain id>:<registry address>', value: 'name' }),
  }),
  examples: andJson(
    'souk identity link --agent-id 7 --registry eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
  ),
  prints: 'linkIdentity',
  async run(context) {
    const { agentId, registry } = context.options
    const session = await context.session()
    return session.call('linkIdentity', {
      body: { agent_id: agentId, agent_registry: registry },
      headers: await session.ownHeaders(),
    })
  },
  view({ agent_id, agent_registry, participant_id, identity_url }, io) {
    io.line(`${green('✓')} agent ${bold(agent_id)} of ${agent_registry} is linked to ${participant_id}`)
    io.line(`  file      ${identity_url}`)
  },
})
