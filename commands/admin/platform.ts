import { defineCommand } from '../../src/cli/command.ts'
import { readHealth } from '../../src/cli/nouns/health.ts'
import { change, changeOptions, showChange, showState } from '../../src/cli/nouns/pause.ts'
import { closedByPause } from '../../src/client/pausing.ts'

export const adminPlatformPause = defineCommand({
  name: 'admin platform pause',
  summary: 'pause all paid activity',
  options: changeOptions,
  examples: [
    'souk admin platform pause --reason "chain RPC is down"',
    'souk admin platform pause --confirm local --json',
  ],
  run: (context) =>
    change(context, {
      says: 'stops all paid activity of',
      scope: async (session) => closedByPause((await readHealth(session)).endpoints),
      send: (session, body) => session.call('pausePlatform', { body }),
    }),
  view: (changed, io) => showChange('platform', changed, io),
})

export const adminPlatformStatus = defineCommand({
  name: 'admin platform status',
  summary: 'show whether paid activity is paused, since when and why',
  examples: ['souk admin platform status', 'souk admin platform status --json'],
  async run(context) {
    const session = await context.session()
    const state = await session.call('getPlatformStatus', {})
    return { remote: session.target.name, ...state }
  },
  view: (state, io) => showState({ noun: 'platform', stopped: 'all paid endpoints are closed' }, state, io),
})

export const adminPlatformUnpause = defineCommand({
  name: 'admin platform unpause',
  summary: 'resume all paid activity',
  options: changeOptions,
  examples: ['souk admin platform unpause --reason "it is over"', 'souk admin platform unpause --confirm local --json'],
  run: (context) =>
    change(context, {
      says: 'resumes all paid activity of',
      send: (session, body) => session.call('unpausePlatform', { body }),
    }),
  view: (changed, io) => showChange('platform', changed, io),
})
