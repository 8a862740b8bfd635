import { participantFields } from '../../src/api/endpoint/list-fields.ts'
import { andJson, defineCall } from '../../src/cli/command.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { showStanding, whose, why } from '../../src/cli/nouns/participants.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import * as z from '../../src/cli/params.ts'
import { participantTypes, tiers } from '../../src/model/words.ts'
import { person } from '../../src/nouns/people.ts'
import { cyan } from '../../src/text/text.ts'

export const adminParticipantsList = listCommand(person, {
  name: 'admin participants list',
  search: searchOptions(participantFields),
  summary: 'list all participants, public or not, newest first',
  options: {
    type: z.choice(participantTypes, { description: 'only of this kind' }),
    tier: z.choice(tiers, { description: 'only of this verification tier' }),
  },
  examples: [
    'souk admin participants list',
    'souk admin participants list --type provider --tier unverified --json',
    'souk admin participants list --sort -balance --filter "suspended:no"',
  ],
})

export const adminParticipantsSuspend = defineCall({
  name: 'admin participants suspend',
  summary: 'suspend a participant: read-only access, listings hidden',
  description:
    'Hides its listings, plans, products and open requests until `unsuspend`. Subscribers are not charged; buyers keep their files. Open jobs continue. Needs the admin key of the instance; asks for confirmation.',
  args: z.object(whose),
  options: why,
  examples: andJson('souk admin participants suspend p_0123456789abcdef --reason "fraud report 17" --dry-run'),
  asks: 'setParticipant',
  asked: ({ args, options }) => ({ params: { id: args.participant }, body: { suspended: true, ...options } }),
  confirms: ({ args, globals }, { target }) =>
    globals.dryRun ? undefined : `Suspend ${args.participant} at ${target.name}?`,
  view(data, io) {
    showStanding(data, io)
    io.note(`  undo: ${cyan(io.hint(`souk admin participants unsuspend ${data.id} --reason …`))}`)
  },
})

export const adminParticipantsTier = defineCall({
  name: 'admin participants tier',
  summary: 'set the verification tier of a participant',
  description: 'Needs the admin key of the instance. The action is logged with its reason.',
  args: z.object({ ...whose, tier: z.enum(tiers).meta({ description: 'new verification tier' }) }),
  options: why,
  examples: [
    'souk admin participants tier p_0123456789abcdef email_verified --reason "wrote back"',
    'souk admin participants tier p_0123456789abcdef unverified --reason "a mistake" --json',
  ],
  asks: 'setParticipant',
  asked: ({ args, options }) => ({
    params: { id: args.participant },
    body: { verification_tier: args.tier, ...options },
  }),
  view: showStanding,
})

export const adminParticipantsUnsuspend = defineCall({
  name: 'admin participants unsuspend',
  summary: 'end a suspension and restore the listings that it hid',
  description:
    'Anything that the participant itself had hidden stays hidden. Paused subscriptions continue when their subscribers resume them. Needs the admin key of the instance.',
  args: z.object(whose),
  options: why,
  examples: andJson('souk admin participants unsuspend p_0123456789abcdef --reason "report withdrawn"'),
  asks: 'setParticipant',
  asked: ({ args, options }) => ({ params: { id: args.participant }, body: { suspended: false, ...options } }),
  view: showStanding,
})
