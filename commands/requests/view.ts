import { defineCall } from '../../src/cli/command.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { posting } from '../../src/nouns/postings.ts'

export const command = defineCall({
  name: 'requests view',
  summary: 'show a request for work',
  aliases: ['postings view'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  examples: ['souk requests view post_0123456789abcdef', 'souk requests view post_0123456789abcdef --json'],
  asks: 'getPosting',
  asked: ({ args }) => ({ params: { id: args.request } }),
  view: (row, io) => showNoun(posting, row, io),
})
