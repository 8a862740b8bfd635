import { planFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand, offeredStatus } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import { plan } from '../../../src/nouns/plans.ts'

export const command = listCommand(plan, {
  name: 'admin plans list',
  search: searchOptions(planFields),
  summary: 'list all plans; filter and sort by any field',
  options: {
    status: offeredStatus,
  },
  examples: ['souk admin plans list', 'souk admin plans list --filter "period:annual" --sort -subscribers --json'],
})
