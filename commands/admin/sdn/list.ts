import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'

const PAGE_ROWS_MAX = 100

type Sanction = WireAnswer<Api['listSanctions']>['wallets'][number]

const columns: readonly Column<Sanction>[] = [
  { title: 'WALLET', value: ({ wallet }) => wallet },
  { title: 'BY', value: ({ listed, manual }) => [...(listed ? ['list'] : []), ...(manual ? ['hand'] : [])].join(', ') },
  { title: 'SINCE', value: ({ since }) => since, drop: 1 },
  { title: 'WHY', value: ({ reason }) => reason, flexible: true, drop: 2 },
]

export const command = defineCommand({
  name: 'admin sdn list',
  summary: 'list the sanctioned wallets',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    manual: z.boolean().default(false).meta({ description: 'only wallets added by hand' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk admin sdn list', 'souk admin sdn list --manual --json'],
  async run(context) {
    const { limit, page, manual } = context.options
    return (await context.session()).call('listSanctions', {
      query: {
        limit: String(limit),
        offset: String((page - 1) * limit),
        ...(manual ? { manual: 'true' as const } : {}),
      },
    })
  },
  rows: ({ wallets }) => wallets,
  columns,
  view({ wallets, total, offset }, io) {
    printRows(io, columns, wallets)
    io.note(wallets.length === 0 ? 'no such wallet' : `${offset + 1} to ${offset + wallets.length} of ${total}`)
  },
})
