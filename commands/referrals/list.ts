import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCall } from '../../src/cli/command.ts'
import { pageOf, pageOptions } from '../../src/cli/nouns/lists.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

type Referral = WireAnswer<Api['listReferrals']>['referrals'][number]

const columns: readonly Column<Referral>[] = [
  { title: 'ID', value: ({ participant_id: id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'TYPE', value: ({ type }) => type, drop: 1 },
  { title: 'EARNED', value: ({ earned }) => `$${earned}`, plain: ({ earned }) => earned, align: 'right' },
  { title: 'SINCE', value: ({ registered_at }) => registered_at, drop: 2 },
]

export const command = defineCall({
  name: 'referrals list',
  summary: 'list your referrals and their earnings',
  options: z.object({
    ...pageOptions,
  }),
  examples: ['souk referrals list', 'souk referrals list --limit 5 --json'],
  asks: 'listReferrals',
  asked(context) {
    const { limit, page } = context.options
    return { query: { ...pageOf({ limit, page }) } }
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
