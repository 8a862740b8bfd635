import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

const PAGE_ROWS_MAX = 100

type Referral = WireAnswer<Api['listReferrals']>['referrals'][number]

const columns: readonly Column<Referral>[] = [
  { title: 'ID', value: ({ participant_id: id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'TYPE', value: ({ type }) => type, drop: 1 },
  { title: 'EARNED', value: ({ earned }) => `$${earned}`, plain: ({ earned }) => earned, align: 'right' },
  { title: 'SINCE', value: ({ registered_at }) => registered_at, drop: 2 },
]

export const command = defineCommand({
  name: 'referrals list',
  summary: 'list your referrals and their earnings',
  args: z.object({}),
  options: z.object({
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk referrals list', 'souk referrals list --limit 5 --json'],
  async run(context) {
    const { limit, page } = context.options
    const session = await context.session()
    return session.call('listReferrals', { query: { limit: String(limit), offset: String((page - 1) * limit) } })
  },
  rows: ({ referrals }) => referrals,
  columns,
  view({ referrals, total, offset, balance }, io) {
    printRows(io, columns, referrals)
    const { lifetime, payable, pending } = balance
    io.line(`earned $${lifetime}   payable $${payable}   pending $${pending}`)
    io.note(referrals.length === 0 ? 'no referrals yet' : `${offset + 1} to ${offset + referrals.length} of ${total}`)
  },
})
