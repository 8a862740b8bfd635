import { z } from 'zod'
import type { WireAnswer } from '../src/api/endpoint.ts'
import type { Api } from '../src/api/index.ts'
import { ownHeaders } from '../src/cli/account.ts'
import { defineCommand } from '../src/cli/command.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import { bold } from '../src/cli/text.ts'

type Settlement = WireAnswer<Api['getEarnings']>['recent_settlements'][number]

const columns: readonly Column<Settlement>[] = [
  { title: 'WHEN', value: ({ created_at }) => created_at },
  {
    title: 'AMOUNT',
    value: ({ provider_amount_usd: usd }) => `$${usd}`,
    plain: ({ provider_amount_usd: usd }) => usd,
    align: 'right',
  },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'JOB', value: ({ job_id }) => job_id, drop: 1 },
  { title: 'TRANSACTION', value: ({ tx_hash }) => tx_hash, flexible: true, drop: 2 },
]

export const command = defineCommand({
  name: 'earnings',
  heading: 'Money',
  summary: 'show what you earned by selling',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk earnings', 'souk earnings --json'],
  async run(context) {
    const session = await context.session()
    const headers = await ownHeaders(session)
    return session.row('getEarnings', { method: 'GET', path: '/v1/provider/earnings', headers })
  },
  rows: ({ recent_settlements: recent }) => recent,
  columns,
  view({ settled_usd, pending_usd, held_usd, lifetime_usd, recent_settlements: recent }, io) {
    io.line(`earned ${bold(`$${lifetime_usd}`)}   settled $${settled_usd}   pending $${pending_usd}`)
    io.line(`in escrow $${held_usd}`)
    printRows(io, columns, recent)
    if (recent.length === 0) io.note('nothing was sold yet')
  },
})
