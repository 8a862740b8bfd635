import { threadFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { threadStatuses } from '../../../src/model/thread.ts'
import { thread } from '../../../src/nouns/threads.ts'

export const command = listCommand(thread, {
  name: 'admin threads list',
  search: searchOptions(threadFields),
  summary: 'list all conversations, most recently changed first',
  description: 'Needs the admin key of the instance. Reading is logged.',
  options: {
    status: z.enum(threadStatuses).optional().meta({ description: 'only in this state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'only of this participant, by id or wallet', value: 'id' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'role of that participant' }),
  },
  examples: [
    'souk admin threads list',
    'souk admin threads list --status inquiry --json',
    'souk admin threads list --filter "age:<1d" --sort amount',
  ],
})
