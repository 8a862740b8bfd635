import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import { actFields } from '../../src/api/endpoint/list-fields.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'

type Act = WireAnswer<Api['getAdminLog']>['acts'][number]

const columns: readonly Column<Act>[] = [
  { title: 'AT', value: ({ at }) => at },
  { title: 'ACT', value: ({ act }) => act },
  { title: 'ABOUT', value: ({ subject }) => subject.id },
  { title: 'CHANGED', value: ({ changed }) => (changed ? 'yes' : 'no'), plain: ({ changed }) => changed },
  { title: 'WHY', value: ({ reason }) => reason, flexible: true, drop: 1 },
  { title: 'REQUEST', value: ({ request_id: id }) => id, drop: 2 },
]

export const command = defineCommand({
  name: 'admin log',
  summary: 'list administrator actions, newest first',
  description: 'Needs the admin key of the instance. See one action in detail with `souk why REQUEST`.',
  args: z.object({}),
  options: z.object({
    ...searchedPageOptions(actFields),
  }),
  examples: ['souk admin log', 'souk admin log --limit 5 --json', 'souk admin log --filter "act:pause changed:yes"'],
  async run(context) {
    const query = searchedPage(context.options)
    return (await context.session()).call('getAdminLog', { query })
  },
  rows: ({ acts }) => acts,
  columns,
  view(page, io) {
    printRows(io, columns, page.acts)
    io.note(listNote(page, page.acts.length, 'nothing was done'))
  },
})
