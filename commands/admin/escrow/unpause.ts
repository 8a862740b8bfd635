import { defineCommand } from '../../../src/cli/command.ts'
import { change, changeOptions, showChange } from '../../../src/cli/nouns/pause.ts'

export const command = defineCommand({
  name: 'admin escrow unpause',
  summary: 'resume escrow',
  options: changeOptions,
  examples: ['souk admin escrow unpause --reason "it is over"', 'souk admin escrow unpause --confirm local --json'],
  run: (context) =>
    change(context, {
      says: 'starts escrow at',
      send: (session, body) => session.call('unpauseEscrow', { body }),
    }),
  view: (changed, io) => showChange('escrow', changed, io),
})
