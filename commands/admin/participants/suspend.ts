import { defineCommand } from '../../../src/cli/command.ts'
import { setStanding, showStanding, whose, why } from '../../../src/cli/nouns/participants.ts'
import * as z from '../../../src/cli/params.ts'
import { cyan } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'admin participants suspend',
  summary: 'suspend a participant: read-only access, listings hidden',
  description:
    'Hides its listings, plans, products and open requests until `unsuspend`. Subscribers are not charged; buyers keep their files. Open jobs continue. Needs the admin key of the instance; asks for confirmation.',
  args: z.object(whose),
  options: why,
  examples: [
    'souk admin participants suspend p_0123456789abcdef --reason "fraud report 17" --dry-run',
    'souk admin participants suspend p_0123456789abcdef --reason "fraud report 17" --dry-run --json',
  ],
  prints: 'setParticipant',
  async run(context) {
    const { participant: id } = context.args
    const session = await context.session()
    if (!context.globals.dryRun) await context.io.confirm(`Suspend ${id} at ${session.target.name}?`)
    return setStanding(session, { id, change: { suspended: true }, reason: context.options.reason })
  },
  view(data, io) {
    showStanding(data, io)
    io.note(`  undo: ${cyan(io.hint(`souk admin participants unsuspend ${data.id} --reason …`))}`)
  },
})
