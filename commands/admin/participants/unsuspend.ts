import { defineCommand } from '../../../src/cli/command.ts'
import { setStanding, showStanding, whose, why } from '../../../src/cli/nouns/participants.ts'
import * as z from '../../../src/cli/params.ts'

export const command = defineCommand({
  name: 'admin participants unsuspend',
  summary: 'end a suspension and restore the listings that it hid',
  description:
    'Items that the participant had hidden stay hidden. Paused subscriptions continue when their subscribers resume them. Needs the admin key of the instance.',
  args: z.object(whose),
  options: why,
  examples: [
    'souk admin participants unsuspend p_0123456789abcdef --reason "report withdrawn"',
    'souk admin participants unsuspend p_0123456789abcdef --reason "report withdrawn" --json',
  ],
  prints: 'setParticipant',
  async run(context) {
    const asked = { id: context.args.participant, change: { suspended: false }, reason: context.options.reason }
    return setStanding(await context.session(), asked)
  },
  view: showStanding,
})
