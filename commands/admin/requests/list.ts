import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import { postingFields } from '../../../src/api/endpoint/list-fields.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { budgetOf } from '../../../src/cli/nouns/requests.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { postingStatuses } from '../../../src/model/posting.ts'

type Row = WireAnswer<Api['listAllPostings']>['postings'][number]

const columns: readonly Column<Row>[] = [
  { title: 'REQUEST', value: ({ posting_id }) => posting_id },
  { title: 'TITLE', value: ({ title }) => title, flexible: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'ASKED BY', value: ({ poster_name, poster_id }) => poster_name || poster_id, drop: 1 },
  { title: 'BUDGET', value: budgetOf, plain: ({ budget_max_usd }) => budget_max_usd, align: 'right' },
  { title: 'BIDS', value: ({ bid_count }) => bid_count, align: 'right', drop: 2 },
  { title: 'CATEGORY', value: ({ category }) => category, drop: 3 },
]

export const command = defineCommand({
  name: 'admin requests list',
  summary: 'list all requests for work; filter and sort by any field',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: z
      .enum(postingStatuses)
      .optional()
      .meta({ description: 'only in this state (default: open)', value: 'state' }),
    ...searchedPageOptions(postingFields),
  }),
  examples: ['souk admin requests list', 'souk admin requests list --status expired --filter "bids:0" --json'],
  async run(context) {
    const { status } = context.options
    return (await context.session()).call('listAllPostings', {
      query: { ...searchedPage(context.options), ...compact({ status }) },
    })
  },
  rows: ({ postings }) => postings,
  columns,
  view(page, io) {
    printRows(io, columns, page.postings)
    io.note(listNote(page, page.postings.length, 'no such request'))
  },
})
