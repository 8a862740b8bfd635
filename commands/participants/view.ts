import { defineCommand } from '../../src/cli/command.ts'
import { showParticipant } from '../../src/cli/nouns/participants.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'participants view',
  summary: 'show a participant by id or wallet',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  options: z.object({}),
  examples: ['souk participants view p_0123456789abcdef', 'souk participants view p_0123456789abcdef --json'],
  run: async (context) =>
    (await context.session()).call('getParticipant', { params: { id: context.args.participant } }),
  view: showParticipant,
})
