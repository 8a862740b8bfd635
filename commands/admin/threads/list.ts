import { threadFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import type { Thread } from '../../../src/cli/nouns/threads.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { threadStatuses } from '../../../src/model/thread.ts'

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
  summary: 'list all conversations, most recently changed first',
  description: 'Needs the admin key of the instance. Reading is logged.',
  args: z.object({}),
  options: z.object({
    status: z.enum(threadStatuses).optional().meta({ description: 'only in this state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'only of this participant, by id or wallet', value: 'id' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'role of that participant' }),
    ...searchedPageOptions(threadFields),
  }),
  examples: [
    'souk admin threads list',
    'souk admin threads list --status inquiry --json',
    'souk admin threads list --filter "age:<1d" --sort amount',
  ],
  async run(context) {
    const { status, participant, role } = context.options
    return (await context.session()).call('listAllThreads', {
      query: {
        ...searchedPage(context.options),
        ...compact({ status, participant, role }),
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
