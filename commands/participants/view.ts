import { defineCall } from '../../src/cli/command.ts'
import { showParticipant } from '../../src/cli/nouns/participants.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCall({
  name: 'participants view',
  summary: 'show a participant by id or wallet',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  examples: ['souk participants view p_0123456789abcdef', 'souk participants view p_0123456789abcdef --json'],
  asks: 'getParticipant',
  asked: ({ args }) => ({ params: { id: args.participant } }),
  view: showParticipant,
})
