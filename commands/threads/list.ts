import { defineCommand } from '../../src/cli/command.ts'
import type { Thread } from '../../src/cli/nouns/threads.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { watchOptions } from '../../src/cli/run/watched.ts'
import { compact } from '../../src/core/record.ts'
import { threadStatuses } from '../../src/model/thread.ts'

const PAGE_ROWS_MAX = 100

const columns: readonly Column<Thread>[] = [
  { title: 'THREAD', value: ({ thread_id }) => thread_id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'PRICE', value: ({ proposal }) => proposal && `$${proposal.agent_price}`, align: 'right' },
  { title: 'MESSAGES', value: ({ message_count }) => message_count, align: 'right', drop: 3 },
  { title: 'JOB', value: ({ job_id }) => job_id, drop: 2 },
  { title: 'CHANGED', value: ({ updated_at }) => updated_at, drop: 1 },
]

export const command = defineCommand({
  name: 'threads list',
  summary: 'list your conversations, the last changed first',
  args: z.object({}),
  options: z.object({
    status: z.enum(threadStatuses).optional().meta({ description: 'in one state', value: 'state' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'on one side only' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows of a page' }),
    page: z.int().min(1).default(1).meta({ description: 'which page' }),
    ...watchOptions,
  }),
  examples: ['souk threads list', 'souk threads list --role provider --status negotiating --json'],
  async run(context) {
    const { limit, page, status, role } = context.options
    const session = await context.session()
    return session.call('listThreads', {
      query: { limit: String(limit), offset: String((page - 1) * limit), ...compact({ status, role }) },
    })
  },
  rows: ({ threads }) => threads,
  columns,
  view({ threads, total, offset }, io) {
    printRows(io, columns, threads)
    io.note(threads.length === 0 ? 'no such conversation' : `${offset + 1} to ${offset + threads.length} of ${total}`)
  },
})
