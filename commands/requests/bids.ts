import { defineCall } from '../../src/cli/command.ts'
import { pageOf, pageOptions } from '../../src/cli/nouns/lists.ts'
import { bidColumns } from '../../src/cli/nouns/requests.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { cyan } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'requests bids',
  summary: 'list bids on your request',
  aliases: ['postings bids'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({
    status: z
      .enum(['submitted', 'accepted', 'rejected', 'withdrawn'])
      .optional()
      .meta({ description: 'only in this state' }),
    ...pageOptions,
  }),
  examples: [
    'souk requests bids post_0123456789abcdef',
    'souk requests bids post_0123456789abcdef --status submitted --json',
  ],
  asks: 'listBids',
  asked(context) {
    const { status, limit, page } = context.options
    return {
      params: { id: context.args.request },
      query: compact({ status, ...pageOf({ limit, page }) }),
    }
  },
  rows: ({ bids }) => bids,
  columns: bidColumns,
  view({ bids, total }, io) {
    printRows(io, bidColumns, bids)
    io.note(bids.length === 0 ? 'no such bid' : `${bids.length} of ${total}`)
    const live = bids.find(({ status }) => status === 'submitted')
    if (live) io.note(`  next: ${cyan(io.hint(`souk requests award ${live.posting_id} ${live.bid_id}`))}`)
  },
})
