import { defineCommand } from '../../../src/cli/command.ts'
import { change, changeOptions, showChange } from '../../../src/cli/nouns/pause.ts'

export const command = defineCommand({
  name: 'admin platform unpause',
  summary: 'resume all paid activity',
  options: changeOptions,
  examples: ['souk admin platform unpause --reason "it is over"', 'souk admin platform unpause --confirm local --json'],
  run: (context) =>
    change(context, {
      says: 'opens every paid door of',
      send: (session, body) => session.call('unpausePlatform', { body }),
    }),
  view: (changed, io) => showChange('platform', changed, io),
})
