import { subscriptionFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { subscription } from '../../../src/nouns/subscriptions.ts'

export const command = listCommand(subscription, {
  name: 'admin subs list',
  search: searchOptions(subscriptionFields),
  summary: 'list all subscriptions; filter and sort by any field',
  options: {
    ended: z.boolean().default(false).meta({ description: 'show ended ones instead of current ones' }),
  },
  examples: ['souk admin subs list', 'souk admin subs list --filter "status:past_due" --sort -failed --json'],
})
