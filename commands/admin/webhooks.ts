import { deliveryFields } from '../../src/api/endpoint/list-fields.ts'
import { andJson, defineCall } from '../../src/cli/command.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import * as z from '../../src/cli/params.ts'
import { isObject } from '../../src/core/json.ts'
import { deliveryStates } from '../../src/model/delivery.ts'
import { delivery } from '../../src/nouns/deliveries.ts'
import { green } from '../../src/text/text.ts'

export const adminWebhooksList = listCommand(delivery, {
  name: 'admin webhooks list',
  search: searchOptions(deliveryFields),
  isDefault: true,
  summary: 'list webhook deliveries of all participants, newest first',
  options: {
    status: z.choice(deliveryStates, { description: 'only in this state', value: 'state' }),
    participant: z.text({ description: 'only of this participant', value: 'id' }),
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

export const adminWebhooksReplay = defineCall({
  name: 'admin webhooks replay',
  summary: 'resend a webhook delivery of any participant',
  description:
    'Needs the admin key of the instance. Sends the same bytes with a full set of retries. The action is logged.',
  args: z.object({ delivery: z.string().meta({ description: 'id of the delivery' }) }),
  examples: andJson('souk admin webhooks replay whd_0123456789abcdef --dry-run'),
  asks: 'replayForOperator',
  view({ id, status, url }, io) {
    io.line(`${green('✓')} ${id} is ${status} again, to ${url}`)
  },
})
