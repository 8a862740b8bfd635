import { defineCommand } from '../../src/cli/command.ts'
import { sending, sent } from '../../src/cli/nouns/threads.ts'

export const command = defineCommand({
  name: 'threads send',
  summary: 'send a message in a conversation',
  ...sending,
  examples: [
    'souk threads send thr_0123456789abcdef "Could you do ten?"',
    'souk threads send thr_0123456789abcdef -m "When?" --json',
  ],
  prints: 'postThreadMessage',
  run: async (context) => (await context.session()).call('postThreadMessage', await sent(context)),
})
