import { defineCommand } from '../../src/cli/command.ts'
import { showPosting } from '../../src/cli/nouns/requests.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'requests view',
  summary: 'show a request for work',
  aliases: ['postings view'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({}),
  examples: ['souk requests view post_0123456789abcdef', 'souk requests view post_0123456789abcdef --json'],
  async run(context) {
    const session = await context.session()
    return session.call('getPosting', { params: { id: context.args.request } })
  },
  view: showPosting,
})
