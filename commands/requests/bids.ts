import { defineCommand } from '../../src/cli/command.ts'
import { bidColumns } from '../../src/cli/nouns/requests.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { cyan } from '../../src/text/text.ts'

const PAGE_ROWS_MAX = 100

export const command = defineCommand({
  name: 'requests bids',
  summary: 'list bids on your request',
  aliases: ['postings bids'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({
    status: z
      .enum(['submitted', 'accepted', 'rejected', 'withdrawn'])
      .optional()
      .meta({ description: 'only in this state' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: [
    'souk requests bids post_0123456789abcdef',
    'souk requests bids post_0123456789abcdef --status submitted --json',
  ],
  async run(context) {
    const { status, limit, page } = context.options
    const session = await context.session()
    return session.call('listBids', {
      params: { id: context.args.request },
      query: compact({ status, limit: String(limit), offset: String((page - 1) * limit) }),
    })
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
