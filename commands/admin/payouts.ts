import { payoutFields } from '../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import * as z from '../../src/cli/params.ts'
import { payoutStates } from '../../src/model/words.ts'
import { payout } from '../../src/nouns/money.ts'

export const command = listCommand(payout, {
  name: 'admin payouts',
  search: searchOptions(payoutFields),
  summary: 'list payouts on the chain, newest first',
  options: {
    status: z.enum(payoutStates).optional().meta({ description: 'only in this state', value: 'state' }),
  },
  examples: [
    'souk admin payouts',
    'souk admin payouts --status confirmed --json',
    'souk admin payouts --filter "status:failed,needs_operator" --sort -amount',
  ],
})
