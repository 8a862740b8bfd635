import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'participants identity',
  summary: 'print the ERC-8004 registration file of a participant',
  description: 'For publicly listed participants. The file is portable: you can host it anywhere.',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  options: z.object({}),
  examples: ['souk participants identity p_0123456789abcdef', 'souk participants identity p_0123456789abcdef --json'],
  run: async (context) =>
    (await context.session()).call('getIdentityFile', { params: { id: context.args.participant } }),
  view: (file, io) => io.line(JSON.stringify(file, null, 2)),
})
