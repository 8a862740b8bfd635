import { defineCommand } from '../../src/cli/command.ts'
import { planColumns } from '../../src/cli/nouns/plans.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'

const PAGE_ROWS = 20
const PAGE_ROWS_MAX = 100

export const command = defineCommand({
  name: 'plans list',
  summary: 'browse plans, newest first',
  args: z.object({}),
  options: z.object({
    provider: z.string().optional().meta({ description: 'only of this provider', value: 'participant' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk plans list', 'souk plans list --provider p_0123456789abcdef --json'],
  async run(context) {
    const { provider, limit, page } = context.options
    const query = compact({ provider, limit: String(limit), offset: String((page - 1) * limit) })
    const session = await context.session()
    return session.call('listPlans', { query })
  },
  rows: ({ plans }) => plans,
  columns: planColumns,
  view({ plans, total, limit, offset }, io) {
    printRows(io, planColumns, plans)
    io.note(plans.length === 0 ? 'no such plan' : `${plans.length} of ${total}`)
    if (offset + plans.length < total && plans.length > 0) io.note(`  next page: --page ${offset / limit + 2}`)
  },
})
