import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import { payoutFields } from '../../src/api/endpoint/list-fields.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { payoutStates } from '../../src/model/payout.ts'

type Payout = WireAnswer<Api['getPayouts']>['payouts'][number]

const columns: readonly Column<Payout>[] = [
  { title: 'PAYOUT', value: ({ id }) => id },
  { title: 'FOR', value: ({ kind }) => kind },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'STATUS', value: ({ status, blocked }) => (blocked ? 'blocked' : status) },
  { title: 'NEXT', value: ({ next_attempt_at: at }) => at, drop: 1 },
  { title: 'WHY', value: ({ last_error: error }) => error, flexible: true, drop: 2 },
  { title: 'WALLET', value: ({ wallet }) => wallet, drop: 3 },
]

export const command = defineCommand({
  name: 'admin payouts',
  summary: 'list payouts on the chain, newest first',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: z.enum(payoutStates).optional().meta({ description: 'only in this state', value: 'state' }),
    ...searchedPageOptions(payoutFields),
  }),
  examples: [
    'souk admin payouts',
    'souk admin payouts --status confirmed --json',
    'souk admin payouts --filter "status:failed,needs_operator" --sort -amount',
  ],
  async run(context) {
    const { status } = context.options
    return (await context.session()).call('getPayouts', {
      query: { ...searchedPage(context.options), ...compact({ status }) },
    })
  },
  rows: ({ payouts }) => payouts,
  columns,
  view(page, io) {
    printRows(io, columns, page.payouts)
    io.note(listNote(page, page.payouts.length, 'no such payout'))
  },
})
