import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import { payeeFields } from '../../src/api/endpoint/list-fields.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { SOLD_DAYS } from '../../src/core/limits.ts'

type Payee = WireAnswer<Api['listPayees']>['payees'][number]
type Sum = 'sold' | 'earned' | 'paid' | 'due' | 'held'

const sum = (title: string, name: Sum): Column<Payee> => ({
  title,
  value: (payee) => `$${payee[name]}`,
  plain: (payee) => payee[name],
  align: 'right',
})

const columns: readonly Column<Payee>[] = [
  { title: 'PAYEE', value: ({ participant_id: id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { ...sum(`SOLD ${SOLD_DAYS}D`, 'sold'), drop: 3 },
  sum('EARNED', 'earned'),
  sum('PAID', 'paid'),
  sum('DUE', 'due'),
  sum('HELD', 'held'),
  { title: 'NEXT', value: ({ next_settlement_at: at }) => at, drop: 1 },
  { title: 'WALLET', value: ({ wallet }) => wallet, drop: 2 },
]

export const command = defineCommand({
  name: 'admin payees',
  summary: 'list providers with sales, earnings, payouts, and amounts due and held',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    ...searchedPageOptions(payeeFields),
  }),
  examples: [
    'souk admin payees',
    'souk admin payees --filter "due:>1" --sort -due',
    'souk admin payees --sort -sold --limit 3',
    'souk admin payees --json',
  ],
  async run(context) {
    return (await context.session()).call('listPayees', {
      query: { ...searchedPage(context.options) },
    })
  },
  rows: ({ payees }) => payees,
  columns,
  view(page, io) {
    printRows(io, columns, page.payees)
    io.note(listNote(page, page.payees.length, 'no sellers yet'))
  },
})
