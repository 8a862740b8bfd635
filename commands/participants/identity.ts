import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCall({
  name: 'participants identity',
  summary: 'print the ERC-8004 registration file of a participant',
  description: 'For publicly listed participants. The file is portable: you can host it anywhere.',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  examples: ['souk participants identity p_0123456789abcdef', 'souk participants identity p_0123456789abcdef --json'],
  asks: 'getIdentityFile',
  asked: ({ args }) => ({ params: { id: args.participant } }),
  view: (file, io) => io.line(JSON.stringify(file, null, 2)),
})
