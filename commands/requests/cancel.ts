import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'requests cancel',
  summary: 'cancel one of your requests',
  aliases: ['postings cancel'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  examples: [
    'souk requests cancel post_0123456789abcdef --yes',
    'souk requests cancel post_0123456789abcdef --yes --json',
  ],
  prints: 'cancelPosting',
  async run(context) {
    const session = await context.session()
    await context.io.confirm(`Cancel ${context.args.request}? Its bids are rejected.`)
    return session.call('cancelPosting', { params: { id: context.args.request } })
  },
  view: ({ posting_id: id }, io) => io.line(`${green('✓')} ${id} cancelled`),
})
