import { postingFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { postingStatuses } from '../../../src/model/words.ts'
import { posting } from '../../../src/nouns/postings.ts'

export const command = listCommand(posting, {
  name: 'admin requests list',
  search: searchOptions(postingFields),
  summary: 'list all requests for work; filter and sort by any field',
  options: {
    status: z
      .enum(postingStatuses)
      .optional()
      .meta({ description: 'only in this state (default: open)', value: 'state' }),
  },
  examples: ['souk admin requests list', 'souk admin requests list --status expired --filter "bids:0" --json'],
})
