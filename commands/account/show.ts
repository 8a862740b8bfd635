import { ownId } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { showParticipant } from '../../src/cli/nouns/participants.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'account show',
  summary: 'show your own profile',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk account show', 'souk account show --json'],
  async run(context) {
    const session = await context.session()
    const id = await ownId(session)
    return session.call('getParticipant', { params: { id } })
  },
  view: showParticipant,
})
