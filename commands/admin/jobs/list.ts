import { jobFields } from '../../../src/api/endpoint/list-fields.ts'
import { jobOrders } from '../../../src/api/endpoint/list-orders.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { jobStatuses } from '../../../src/model/job.ts'
import { job } from '../../../src/nouns/jobs.ts'

export const command = listCommand(job, {
  name: 'admin jobs list',
  search: searchOptions(jobFields, jobOrders),
  summary: 'list all jobs, newest first',
  options: {
    status: z.enum(jobStatuses).optional().meta({ description: 'only in this state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'only of this participant, by id or wallet', value: 'id' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'role of that participant' }),
  },
  examples: [
    'souk admin jobs list',
    'souk admin jobs list --status disputed --json',
    'souk admin jobs list --sort worst',
    'souk admin jobs list --filter "late:yes amount:>1" --sort -amount',
  ],
})
