import { serviceFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand, offeredStatus } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import { service } from '../../../src/nouns/services.ts'

export const command = listCommand(service, {
  name: 'admin services list',
  search: searchOptions(serviceFields),
  summary: 'list all listings; filter and sort by any field',
  options: {
    status: offeredStatus,
  },
  examples: [
    'souk admin services list',
    'souk admin services list --filter "hook:failing !souk"',
    'souk admin services list --sort -reputation --json',
  ],
})
