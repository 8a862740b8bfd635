import { holdFields } from '../../src/api/endpoint/list-fields.ts'
import { holdOrders } from '../../src/api/endpoint/list-orders.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import * as z from '../../src/cli/params.ts'
import { heldKinds } from '../../src/model/ledger.ts'
import { hold } from '../../src/nouns/money.ts'

export const command = listCommand(hold, {
  name: 'admin holds',
  search: searchOptions(holdFields, holdOrders),
  summary: 'list held money: owner, reason and what happens next',
  options: {
    kind: z.enum(heldKinds).optional().meta({ description: 'only this kind of account', value: 'kind' }),
  },
  examples: [
    'souk admin holds',
    'souk admin holds --kind esc --json',
    'souk admin holds --sort soonest',
    'souk admin holds --filter "amount:>1" --sort -amount',
  ],
})
