import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'requests withdraw',
  summary: 'withdraw one of your bids',
  aliases: ['postings withdraw'],
  args: z.object({
    request: z.string().meta({ description: 'id of the request' }),
    bid: z.string().meta({ description: 'id of the bid' }),
  }),
  examples: [
    'souk requests withdraw post_0123456789abcdef bid_0123456789abcdef',
    'souk requests withdraw post_0123456789abcdef bid_0123456789abcdef --json',
  ],
  asks: 'withdrawBid',
  asked(context) {
    const { request, bid } = context.args
    return { params: { id: request, bidId: bid } }
  },
  view: ({ bid_id: id }, io) => io.line(`${green('✓')} ${id} withdrawn`),
})
