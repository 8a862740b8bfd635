import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'requests withdraw',
  summary: 'withdraw one of your bids',
  aliases: ['postings withdraw'],
  args: z.object({
    request: z.string().meta({ description: 'id of the request' }),
    bid: z.string().meta({ description: 'id of the bid' }),
  }),
  options: z.object({}),
  examples: [
    'souk requests withdraw post_0123456789abcdef bid_0123456789abcdef',
    'souk requests withdraw post_0123456789abcdef bid_0123456789abcdef --json',
  ],
  async run(context) {
    const { request, bid } = context.args
    const session = await context.session()
    return session.call('withdrawBid', { params: { id: request, bidId: bid } })
  },
  view: ({ bid_id: id }, io) => io.line(`${green('✓')} ${id} withdrawn`),
})
