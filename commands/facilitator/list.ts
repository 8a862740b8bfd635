import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCall } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { facilitatedStates } from '../../src/model/payment.ts'

const PAGE_ROWS_MAX = 100

type Settlement = WireAnswer<Api['listFacilitatedSettlements']>['settlements'][number]

const columns: readonly Column<Settlement>[] = [
  { title: 'CREATED', value: ({ created_at: at }) => at },
  { title: 'AMOUNT', value: ({ amount }) => `$${amount}`, plain: ({ amount }) => amount, align: 'right' },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'SELLER', value: ({ seller }) => seller, drop: 1 },
  { title: 'TO', value: ({ pay_to: to }) => to, drop: 4 },
  { title: 'FROM', value: ({ payer }) => payer, drop: 3 },
  { title: 'FOR', value: ({ resource }) => resource, flexible: true, drop: 2 },
  { title: 'TRANSACTION', value: ({ transaction }) => transaction, drop: 5 },
]

export const command = defineCall({
  name: 'facilitator list',
  summary: 'list settlements of other servers, newest first',
  description:
    'States: sent (waiting for the chain), settled (money moved, server not informed yet), handed (server informed). Needs the admin key of the instance.',
  options: z.object({
    state: z.enum(facilitatedStates).optional().meta({ description: 'only in this state', value: 'state' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk facilitator list', 'souk facilitator list --state settled --json'],
  asks: 'listFacilitatedSettlements',
  asked(context) {
    const { limit, page, state } = context.options
    return {
      query: { limit: String(limit), offset: String((page - 1) * limit), ...compact({ state }) },
    }
  },
  rows: ({ settlements }) => settlements,
  columns,
  view({ settlements, total, offset }, io) {
    printRows(io, columns, settlements)
    io.note(settlements.length === 0 ? 'none' : `${offset + 1} to ${offset + settlements.length} of ${total}`)
  },
})
