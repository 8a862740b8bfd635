import { planFields } from '../../../src/api/endpoint/list-fields.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { type Plan, rate } from '../../../src/cli/nouns/plans.ts'
import { listNote, offeredStatus, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'

const columns: readonly Column<Plan>[] = [
  { title: 'PLAN', value: ({ plan_id }) => plan_id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'PROVIDER', value: ({ provider_name }) => provider_name, drop: 2 },
  {
    title: 'SUBSCRIBER PAYS',
    value: ({ agent_price, billing_period }) => rate(agent_price, billing_period),
    plain: ({ agent_price }) => agent_price,
    align: 'right',
  },
  { title: 'SERVICES', value: ({ service_ids }) => service_ids.length, align: 'right', drop: 3 },
  { title: 'SUBSCRIBERS', value: ({ subscribers }) => subscribers, align: 'right', drop: 1 },
]

export const command = defineCommand({
  name: 'admin plans list',
  summary: 'list all plans; filter and sort by any field',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    status: offeredStatus,
    ...searchedPageOptions(planFields),
  }),
  examples: ['souk admin plans list', 'souk admin plans list --filter "period:annual" --sort -subscribers --json'],
  async run(context) {
    const { status } = context.options
    return (await context.session()).call('listAllPlans', {
      query: { ...searchedPage(context.options), ...compact({ status }) },
    })
  },
  rows: ({ plans }) => plans,
  columns,
  view(page, io) {
    printRows(io, columns, page.plans)
    io.note(listNote(page, page.plans.length, 'no such plan'))
  },
})
