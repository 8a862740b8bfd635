import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'participants identity',
  summary: 'print the ERC-8004 registration file of a participant',
  description: 'Only of who is publicly listed. The file is portable: it may be served anywhere else as it is.',
  args: z.object({ participant: z.string().meta({ description: 'id, or wallet address' }) }),
  options: z.object({}),
  examples: ['souk participants identity p_0123456789abcdef', 'souk participants identity p_0123456789abcdef --json'],
  run: async (context) =>
    (await context.session()).call('getIdentityFile', { params: { id: context.args.participant } }),
  view: (file, io) => io.line(JSON.stringify(file, null, 2)),
})
