import { defineCommand } from '../../src/cli/command.ts'
import { change, changeOptions, showChange, showState } from '../../src/cli/nouns/pause.ts'

export const adminEscrowPause = defineCommand({
  name: 'admin escrow pause',
  summary: 'pause escrow: no new holds and no releases',
  options: changeOptions,
  examples: [
    'souk admin escrow pause --reason "audit of the contract"',
    'souk admin escrow pause --confirm local --json',
  ],
  run: (context) =>
    change(context, { says: 'stops escrow at', send: (session, body) => session.call('pauseEscrow', { body }) }),
  view: (changed, io) => showChange('escrow', changed, io),
})

export const adminEscrowStatus = defineCommand({
  name: 'admin escrow status',
  summary: 'show whether escrow is paused, since when and why',
  examples: ['souk admin escrow status', 'souk admin escrow status --json'],
  async run(context) {
    const session = await context.session()
    const state = await session.call('getEscrowPaused', {})
    return { remote: session.target.name, ...state }
  },
  view: (state, io) => showState({ noun: 'escrow', stopped: 'no payments into escrow, releases wait' }, state, io),
})

export const adminEscrowUnpause = defineCommand({
  name: 'admin escrow unpause',
  summary: 'resume escrow',
  options: changeOptions,
  examples: ['souk admin escrow unpause --reason "it is over"', 'souk admin escrow unpause --confirm local --json'],
  run: (context) =>
    change(context, { says: 'starts escrow at', send: (session, body) => session.call('unpauseEscrow', { body }) }),
  view: (changed, io) => showChange('escrow', changed, io),
})
