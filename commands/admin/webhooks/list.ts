import { deliveryFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { columns } from '../../../src/cli/nouns/deliveries.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { deliveryStates } from '../../../src/model/delivery.ts'

export const command = defineCommand({
  name: 'admin webhooks list',
  isDefault: true,
  summary: 'list webhook deliveries of all participants, newest first',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: z.enum(deliveryStates).optional().meta({ description: 'only in this state', value: 'state' }),
    participant: z.string().optional().meta({ description: 'only of this participant', value: 'id' }),
    ...searchedPageOptions(deliveryFields),
  }),
  examples: [
    'souk admin webhooks list',
    'souk admin webhooks list --status dead --json',
    'souk admin webhooks list --filter "type:job age:<1d"',
  ],
  async run(context) {
    const { status, participant } = context.options
    return (await context.session()).call('getWebhooks', {
      query: {
        ...searchedPage(context.options),
        ...compact({ status, participant }),
      },
    })
  },
  rows: ({ deliveries }) => deliveries,
  columns,
  view(page, io) {
    printRows(io, columns, page.deliveries)
    if (page.searched) io.note(listNote(page, page.deliveries.length, 'no such delivery'))
    const states = Object.entries(page.counts).map(([state, count]) => `${count} ${state}`)
    io.note(`of all: ${states.join(', ')}`)
  },
})
