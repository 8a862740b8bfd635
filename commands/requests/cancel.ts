import { z } from 'zod'
import { ownHeaders } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'requests cancel',
  summary: 'take back a request of yours',
  aliases: ['postings cancel'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({}),
  examples: [
    'souk requests cancel post_0123456789abcdef --yes',
    'souk requests cancel post_0123456789abcdef --yes --json',
  ],
  async run(context) {
    const session = await context.session()
    const headers = await ownHeaders(session)
    await context.io.confirm(`Cancel ${context.args.request}? Its bids are rejected.`)
    return session.row('cancelPosting', {
      method: 'POST',
      path: '/v1/postings/:id/cancel',
      params: { id: context.args.request },
      headers,
    })
  },
  view: ({ posting_id: id }, io) => io.line(`${green('✓')} ${id} cancelled`),
})
