import { deliveryFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { isObject } from '../../../src/core/json.ts'
import { deliveryStates } from '../../../src/model/delivery.ts'
import { delivery } from '../../../src/nouns/deliveries.ts'

export const command = listCommand(delivery, {
  name: 'admin webhooks list',
  search: searchOptions(deliveryFields),
  isDefault: true,
  summary: 'list webhook deliveries of all participants, newest first',
  options: {
    status: z.enum(deliveryStates).optional().meta({ description: 'only in this state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'only of this participant', value: 'id' }),
  },
  examples: [
    'souk admin webhooks list',
    'souk admin webhooks list --status dead --json',
    'souk admin webhooks list --filter "type:job age:<1d"',
  ],
  note(page, io) {
    const counts = 'counts' in page && isObject(page.counts) ? page.counts : {}
    io.note(
      `of all: ${Object.entries(counts)
        .map(([state, count]) => `${count} ${state}`)
        .join(', ')}`,
    )
  },
})
