import { defineCommand } from '../../src/cli/command.ts'
import { subscriptionColumns } from '../../src/cli/nouns/subscriptions.ts'
import { printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { compact } from '../../src/core/record.ts'

const PAGE_ROWS = 20
const PAGE_ROWS_MAX = 100

export const command = defineCommand({
  name: 'subs list',
  summary: 'list subscriptions, yours and those to your plans, newest first',
  args: z.object({}),
  options: z.object({
    status: z
      .enum(['active', 'paused', 'past_due', 'canceled', 'expired'])
      .optional()
      .meta({ description: 'only in this state' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'only as buyer or as provider' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(PAGE_ROWS).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
    ...watchOptions,
  }),
  examples: ['souk subs list', 'souk subs list --role buyer --status active --json'],
  async run(context) {
    const { status, role, limit, page } = context.options
    const session = await context.session()
    return session.call('listSubscriptions', {
      query: compact({ status, role, limit: String(limit), offset: String((page - 1) * limit) }),
    })
  },
  rows: ({ subscriptions }) => subscriptions,
  columns: subscriptionColumns,
  view({ subscriptions, total, offset }, io) {
    printRows(io, subscriptionColumns, subscriptions)
    const last = offset + subscriptions.length
    io.note(subscriptions.length === 0 ? 'no such subscription' : `${offset + 1} to ${last} of ${total}`)
  },
})
