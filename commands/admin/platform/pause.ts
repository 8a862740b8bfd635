import { defineCommand } from '../../../src/cli/command.ts'
import { change, changeOptions, showChange } from '../../../src/cli/nouns/pause.ts'
import * as z from '../../../src/cli/params.ts'

export const command = defineCommand({
  name: 'admin platform pause',
  summary: 'stop all paid activity',
  args: z.object({}),
  options: changeOptions,
  examples: [
    'souk admin platform pause --reason "chain RPC is down"',
    'souk admin platform pause --confirm local --json',
  ],
  run: (context) =>
    change(context, {
      says: 'stops every paid door of',
      send: (session, body) => session.call('pausePlatform', { body }),
    }),
  view: (changed, io) => showChange('platform', changed, io),
})
