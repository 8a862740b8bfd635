import { defineCommand } from '../../../src/cli/command.ts'
import { showState } from '../../../src/cli/nouns/pause.ts'

export const command = defineCommand({
  name: 'admin platform status',
  summary: 'show whether paid activity is paused, since when and why',
  examples: ['souk admin platform status', 'souk admin platform status --json'],
  async run(context) {
    const session = await context.session()
    const state = await session.call('getPlatformStatus', {})
    return { remote: session.target.name, ...state }
  },
  view: (state, io) => showState({ noun: 'platform', stopped: 'every paid door is shut' }, state, io),
})
