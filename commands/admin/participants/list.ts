import { participantFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { participantTypes, tiers } from '../../../src/model/words.ts'
import { person } from '../../../src/nouns/people.ts'

export const command = listCommand(person, {
  name: 'admin participants list',
  search: searchOptions(participantFields),
  summary: 'list all participants, public or not, newest first',
  options: {
    type: z.enum(participantTypes).optional().meta({ description: 'only of this kind' }),
    tier: z.enum(tiers).optional().meta({ description: 'only of this verification tier' }),
  },
  examples: [
    'souk admin participants list',
    'souk admin participants list --type provider --tier unverified --json',
    'souk admin participants list --sort -balance --filter "suspended:no"',
  ],
})
