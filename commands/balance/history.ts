import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

const PAGE_ROWS_MAX = 100

type Entry = WireAnswer<Api['getBalanceHistory']>['entries'][number]

const columns: readonly Column<Entry>[] = [
  { title: 'WHEN', value: ({ created_at }) => created_at },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { title: 'AFTER', value: ({ balance_after }) => balance_after, align: 'right' },
  { title: 'FOR', value: ({ reference }) => reference.id, drop: 1 },
  { title: 'ID', value: ({ id }) => id, drop: 2 },
]

export const command = defineCommand({
  name: 'balance history',
  summary: 'list balance transactions, newest first',
  args: z.object({}),
  options: z.object({
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: ['souk balance history', 'souk balance history --limit 5 --json'],
  async run(context) {
    const { limit, page } = context.options
    const session = await context.session()
    return session.call('getBalanceHistory', { query: { limit: String(limit), offset: String((page - 1) * limit) } })
  },
  rows: ({ entries }) => entries,
  columns,
  view({ entries, total, offset }, io) {
    printRows(io, columns, entries)
    io.note(entries.length === 0 ? 'nothing has moved yet' : `${offset + 1} to ${offset + entries.length} of ${total}`)
  },
})
