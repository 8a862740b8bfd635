import { threadFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { listNote, searchOptions } from '../../../src/cli/nouns/searching.ts'
import type { Thread } from '../../../src/cli/nouns/threads.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { watchOptions } from '../../../src/cli/run/watched.ts'
import { compact } from '../../../src/core/record.ts'
import { threadStatuses } from '../../../src/model/thread.ts'

const PAGE_ROWS_MAX = 100

const columns: readonly Column<Thread>[] = [
  { title: 'THREAD', value: ({ thread_id }) => thread_id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'PROVIDER', value: ({ provider_id }) => provider_id },
  { title: 'BUYER', value: ({ agent_id }) => agent_id, drop: 3 },
  { title: 'MESSAGES', value: ({ message_count }) => message_count, align: 'right', drop: 2 },
  { title: 'CHANGED', value: ({ updated_at }) => updated_at, drop: 1 },
]

export const command = defineCommand({
  name: 'admin threads list',
  summary: 'list the conversations of everybody, the last changed first',
  description: 'Needs the admin key of the instance, which logs that you looked.',
  args: z.object({}),
  options: z.object({
    status: z.enum(threadStatuses).optional().meta({ description: 'in one state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'of one party, by id or wallet', value: 'id' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'what that party is' }),
    ...searchOptions(threadFields),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows of a page' }),
    page: z.int().min(1).default(1).meta({ description: 'which page' }),
    ...watchOptions,
  }),
  examples: [
    'souk admin threads list',
    'souk admin threads list --status inquiry --json',
    'souk admin threads list --filter "age:<1d" --sort amount',
  ],
  async run(context) {
    const { limit, page, status, participant, role, filter, sort } = context.options
    return (await context.session()).call('listAllThreads', {
      query: {
        limit: String(limit),
        offset: String((page - 1) * limit),
        ...compact({ status, participant, role, filter, sort }),
      },
    })
  },
  rows: ({ threads }) => threads,
  columns,
  view(page, io) {
    printRows(io, columns, page.threads)
    io.note(listNote(page, page.threads.length, 'no such conversation'))
  },
})
