import { defineCommand } from '../../../src/cli/command.ts'
import { change, changeOptions, showChange } from '../../../src/cli/nouns/pause.ts'

export const command = defineCommand({
  name: 'admin escrow pause',
  summary: 'pause escrow: no new holds and no releases',
  options: changeOptions,
  examples: [
    'souk admin escrow pause --reason "audit of the contract"',
    'souk admin escrow pause --confirm local --json',
  ],
  run: (context) =>
    change(context, {
      says: 'stops escrow at',
      send: (session, body) => session.call('pauseEscrow', { body }),
    }),
  view: (changed, io) => showChange('escrow', changed, io),
})
