import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import { subscriptionFields } from '../../../src/api/endpoint/list-fields.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { rate } from '../../../src/cli/nouns/plans.ts'
import { listNote, searchedPage, searchedPageOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'

type Row = WireAnswer<Api['listAllSubscriptions']>['subscriptions'][number]

const columns: readonly Column<Row>[] = [
  { title: 'SUBSCRIPTION', value: ({ subscription_id }) => subscription_id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'PLAN', value: ({ plan_name }) => plan_name, flexible: true },
  { title: 'SUBSCRIBER', value: ({ subscriber_name }) => subscriber_name, drop: 2 },
  { title: 'PROVIDER', value: ({ provider_name }) => provider_name, drop: 3 },
  {
    title: 'PRICE',
    value: ({ amount, billing_period }) => rate(amount, billing_period),
    plain: ({ amount }) => amount,
    align: 'right',
  },
  { title: 'UNTIL', value: ({ current_period_end }) => current_period_end, drop: 1 },
]

export const command = defineCommand({
  name: 'admin subs list',
  summary: 'list all subscriptions; filter and sort by any field',
  description: 'Needs the admin key of the instance.',
  args: z.object({}),
  options: z.object({
    ended: z.boolean().default(false).meta({ description: 'show ended ones instead of current ones' }),
    ...searchedPageOptions(subscriptionFields),
  }),
  examples: ['souk admin subs list', 'souk admin subs list --filter "status:past_due" --sort -failed --json'],
  async run(context) {
    const { ended } = context.options
    const over = ended ? ({ ended: 'true' } as const) : {}
    return (await context.session()).call('listAllSubscriptions', {
      query: { ...searchedPage(context.options), ...over },
    })
  },
  rows: ({ subscriptions }) => subscriptions,
  columns,
  view(page, io) {
    printRows(io, columns, page.subscriptions)
    io.note(listNote(page, page.subscriptions.length, 'no such subscription'))
  },
})
