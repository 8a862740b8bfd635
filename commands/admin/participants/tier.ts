import { defineCommand } from '../../../src/cli/command.ts'
import { setStanding, showStanding, whose, why } from '../../../src/cli/nouns/participants.ts'
import * as z from '../../../src/cli/params.ts'
import { tiers } from '../../../src/model/words.ts'

export const command = defineCommand({
  name: 'admin participants tier',
  summary: 'set the verification tier of a participant',
  description: 'Needs the admin key of the instance. The action is logged with its reason.',
  args: z.object({ ...whose, tier: z.enum(tiers).meta({ description: 'new verification tier' }) }),
  options: why,
  examples: [
    'souk admin participants tier p_0123456789abcdef email_verified --reason "wrote back"',
    'souk admin participants tier p_0123456789abcdef unverified --reason "a mistake" --json',
  ],
  prints: 'setParticipant',
  async run(context) {
    const { participant: id, tier } = context.args
    const asked = { id, change: { verification_tier: tier }, reason: context.options.reason }
    return setStanding(await context.session(), asked)
  },
  view: showStanding,
})
