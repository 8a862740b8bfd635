import { participantFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import type { ParticipantStanding } from '../../../src/cli/nouns/participants.ts'
import { listNote, searchOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { participantTypes, tiers } from '../../../src/model/participant.ts'

const PAGE_ROWS_MAX = 100

const columns: readonly Column<ParticipantStanding>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'TYPE', value: ({ type }) => type, drop: 1 },
  { title: 'TIER', value: ({ verification_tier }) => verification_tier, drop: 2 },
  { title: 'BALANCE', value: ({ balance }) => `$${balance.available}`, align: 'right', drop: 3 },
  { title: 'SUSPENDED', value: ({ suspended_at }) => suspended_at },
]

export const command = defineCommand({
  name: 'admin participants list',
  summary: 'list all participants, public or not, newest first',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    type: z.enum(participantTypes).optional().meta({ description: 'only of this kind' }),
    tier: z.enum(tiers).optional().meta({ description: 'only of this verification tier' }),
    ...searchOptions(participantFields),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: [
    'souk admin participants list',
    'souk admin participants list --type provider --tier unverified --json',
    'souk admin participants list --sort -balance --filter "suspended:no"',
  ],
  async run(context) {
    const { limit, page, type, tier, filter, sort } = context.options
    return (await context.session()).call('listParticipants', {
      query: { limit: String(limit), offset: String((page - 1) * limit), ...compact({ type, tier, filter, sort }) },
    })
  },
  rows: ({ participants }) => participants,
  columns,
  view(page, io) {
    printRows(io, columns, page.participants)
    io.note(listNote(page, page.participants.length, 'nobody'))
  },
})
