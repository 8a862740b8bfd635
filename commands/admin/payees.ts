import { payeeFields } from '../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import { payee } from '../../src/nouns/money.ts'

export const command = listCommand(payee, {
  name: 'admin payees',
  search: searchOptions(payeeFields),
  summary: 'list providers with sales, earnings, payouts, and amounts due and held',
  examples: [
    'souk admin payees',
    'souk admin payees --filter "due:>1" --sort -due',
    'souk admin payees --sort -sold --limit 3',
    'souk admin payees --json',
  ],
})
