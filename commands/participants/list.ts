import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import type { Participant } from '../../src/cli/nouns/participants.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import { compact } from '../../src/core/record.ts'

const PAGE_ROWS_MAX = 100

const columns: readonly Column<Participant>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'TYPE', value: ({ type }) => type, drop: 1 },
  { title: 'TIER', value: ({ verification_tier }) => verification_tier, drop: 2 },
  { title: 'WALLET', value: ({ wallet }) => wallet, drop: 3 },
]

export const command = defineCommand({
  name: 'participants list',
  summary: 'browse the public directory',
  args: z.object({}),
  options: z.object({
    type: z.enum(['agent', 'provider', 'both']).optional().meta({ description: 'of one kind' }),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows of a page' }),
    cursor: z.string().optional().meta({ description: 'next_cursor of the page before', value: 'text' }),
  }),
  examples: ['souk participants list', 'souk participants list --type provider --json'],
  async run(context) {
    const { type, limit, cursor } = context.options
    const query = {
      limit: String(limit),
      ...compact({ type, cursor }),
    }
    return (await context.session()).call('getDirectory', { query })
  },
  rows: ({ participants }) => participants,
  columns,
  view({ participants, next_cursor: next }, io) {
    printRows(io, columns, participants)
    if (participants.length === 0) io.note('nobody is listed')
    if (next !== null) io.note(`  next page: --cursor ${next}`)
  },
})
