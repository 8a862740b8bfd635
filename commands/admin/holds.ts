import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import { holdFields } from '../../src/api/endpoint/list-fields.ts'
import { holdOrders } from '../../src/api/endpoint/list-orders.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { heldKinds } from '../../src/model/ledger.ts'

type Hold = WireAnswer<Api['getHolds']>['holds'][number]

const columns: readonly Column<Hold>[] = [
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, align: 'right' },
  { title: 'WHY', value: ({ reason }) => reason, flexible: true },
  { title: 'NEXT', value: ({ next_event }) => next_event },
  { title: 'AT', value: ({ next_event_at }) => next_event_at, drop: 1 },
]

export const command = defineCommand({
  name: 'admin holds',
  summary: 'list held money: owner, reason and what happens next',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    kind: z.enum(heldKinds).optional().meta({ description: 'only this kind of account', value: 'kind' }),
    ...searchedPageOptions(holdFields, holdOrders),
  }),
  examples: [
    'souk admin holds',
    'souk admin holds --kind esc --json',
    'souk admin holds --sort soonest',
    'souk admin holds --filter "amount:>1" --sort -amount',
  ],
  async run(context) {
    const { kind } = context.options
    return (await context.session()).call('getHolds', {
      query: { ...searchedPage(context.options), ...compact({ kind }) },
    })
  },
  rows: ({ holds }) => holds,
  columns,
  view(page, io) {
    printRows(io, columns, page.holds)
    io.note(listNote(page, page.holds.length, 'nothing is held'))
  },
})
