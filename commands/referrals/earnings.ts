import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCall } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

const PAGE_ROWS_MAX = 100

type Reward = WireAnswer<Api['getReferralEarnings']>['history'][number]

const columns: readonly Column<Reward>[] = [
  { title: 'WHEN', value: ({ created_at }) => created_at },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'AS', value: ({ role }) => role },
  { title: 'REFERRED', value: ({ referred_id: id }) => id, drop: 1 },
  { title: 'SALE', value: ({ reference }) => reference.id, drop: 2 },
]

export const command = defineCall({
  name: 'referrals earnings',
  summary: 'list your referral earnings, sale by sale',
  options: z.object({
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk referrals earnings', 'souk referrals earnings --limit 5 --json'],
  asks: 'getReferralEarnings',
  asked(context) {
    const { limit, page } = context.options
    return { query: { limit: String(limit), offset: String((page - 1) * limit) } }
  },
  rows: ({ history }) => history,
  columns,
  view({ history, total, offset, lifetime, breakdown, payable, pending, withdrawn }, io) {
    io.line(`earned $${lifetime}: by agents $${breakdown.agent}, by providers $${breakdown.provider}`)
    io.line(`payable $${payable}   pending $${pending}   withdrawn $${withdrawn}`)
    printRows(io, columns, history)
    io.note(history.length === 0 ? 'nothing yet' : `${offset + 1} to ${offset + history.length} of ${total}`)
  },
})
