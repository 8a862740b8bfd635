import { actFields } from '../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import { act } from '../../src/nouns/money.ts'

export const command = listCommand(act, {
  name: 'admin log',
  search: searchOptions(actFields),
  summary: 'list administrator actions, newest first',
  description: 'Needs the admin key of the instance. See one action in detail with `souk why REQUEST`.',
  examples: ['souk admin log', 'souk admin log --limit 5 --json', 'souk admin log --filter "act:pause changed:yes"'],
})
