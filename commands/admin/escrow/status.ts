import { defineCommand } from '../../../src/cli/command.ts'
import { showState } from '../../../src/cli/nouns/pause.ts'

export const command = defineCommand({
  name: 'admin escrow status',
  summary: 'show whether escrow is paused, since when and why',
  examples: ['souk admin escrow status', 'souk admin escrow status --json'],
  async run(context) {
    const session = await context.session()
    const state = await session.call('getEscrowPaused', {})
    return { remote: session.target.name, ...state }
  },
  view: (state, io) => showState({ noun: 'escrow', stopped: 'nothing enters escrow, releases wait' }, state, io),
})
