import { defineCommand } from '../../../src/cli/command.ts'
import { readHealth } from '../../../src/cli/nouns/health.ts'
import { change, changeOptions, showChange } from '../../../src/cli/nouns/pause.ts'
import { closedByPause } from '../../../src/client/pausing.ts'

export const command = defineCommand({
  name: 'admin platform pause',
  summary: 'pause all paid activity',
  options: changeOptions,
  examples: [
    'souk admin platform pause --reason "chain RPC is down"',
    'souk admin platform pause --confirm local --json',
  ],
  run: (context) =>
    change(context, {
      says: 'stops every paid door of',
      scope: async (session) => closedByPause((await readHealth(session)).endpoints),
      send: (session, body) => session.call('pausePlatform', { body }),
    }),
  view: (changed, io) => showChange('platform', changed, io),
})
