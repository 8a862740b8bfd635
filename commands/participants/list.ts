import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { columnsOf, PAGE_ROWS_MAX, pageOptions } from '../../src/cli/nouns/lists.ts'
import { printRows } from '../../src/cli/output.ts'
import { allRows, type NextPage } from '../../src/cli/paging.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { person } from '../../src/nouns/people.ts'

type Directory = WireAnswer<Api['getDirectory']>

const columns = columnsOf(person, 'own')

export const command = defineCommand({
  name: 'participants list',
  summary: 'browse the public directory',
  options: z.object({
    type: z.enum(['agent', 'provider', 'both']).optional().meta({ description: 'only of this kind' }),
    limit: pageOptions.limit,
    cursor: z.string().optional().meta({ description: 'next_cursor of the previous page', value: 'text' }),
    all: z.boolean().default(false).meta({ description: 'fetch all pages' }),
  }),
  examples: ['souk participants list', 'souk participants list --all', 'souk participants list --type provider --json'],
  async run(context) {
    const { type, limit, cursor, all } = context.options
    const session = await context.session()
    const ask = (rows: number, from?: string) =>
      session.call('getDirectory', { query: { limit: String(rows), ...compact({ type, cursor: from }) } })
    if (!all) return ask(limit, cursor)
    const pages = {
      ask: (at?: NextPage) => ask(PAGE_ROWS_MAX, at && 'cursor' in at ? at.cursor : cursor),
      rowsOf: (page: Directory) => page.participants,
      nextOf: ({ next_cursor: next }: Directory) => (next === null ? undefined : { cursor: next }),
    }
    return { participants: [...(await allRows(pages, ({ id }) => id))], next_cursor: null }
  },
  rows: ({ participants }) => participants,
  columns,
  view({ participants, next_cursor: next }, io) {
    printRows(io, columns, participants)
    if (participants.length === 0) io.note('no participants are listed')
    if (next !== null) io.note(`  next page: --cursor ${next}`)
  },
})
