import { defineCommand } from '../../../src/cli/command.ts'
import { sending, sent } from '../../../src/cli/nouns/threads.ts'

export const command = defineCommand({
  name: 'admin threads send',
  summary: 'answer an inquiry about a house listing',
  description: 'Needs the admin key of the instance. Only providers can answer in their own conversations.',
  ...sending,
  examples: [
    'souk admin threads send thr_0123456789abcdef "Ten pages are fine"',
    'souk admin threads send thr_0123456789abcdef -m "Up to 50,000 characters" --json',
  ],
  prints: 'answerForHouse',
  run: async (context) => (await context.session()).call('answerForHouse', await sent(context)),
})
