import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'

type Day = WireAnswer<Api['listFacilitatedSettlements']>['today'][number]

const columns: readonly Column<Day>[] = [
  { title: 'SELLER', value: ({ seller }) => seller },
  { title: 'SETTLED', value: ({ settlements }) => String(settlements), align: 'right' },
  { title: 'GAS', value: ({ gas }) => String(gas), align: 'right' },
]

export const command = defineCommand({
  name: 'facilitator sellers',
  summary: 'list settlements of today by key, busiest first',
  description:
    'A key is the API key of a registered participant. Rotate the key to replace it; suspend the participant to block it. Needs the admin key of the instance.',
  examples: ['souk facilitator sellers', 'souk facilitator sellers --json'],
  async run(context) {
    const { today, daily_gas } = await (await context.session()).call('listFacilitatedSettlements', {
      query: { limit: '1' },
    })
    return { sellers: today, daily_gas }
  },
  rows: ({ sellers }) => sellers,
  columns,
  view({ sellers, daily_gas: most }, io) {
    printRows(io, columns, sellers)
    io.note(sellers.length === 0 ? 'no key settled anything today (UTC)' : `a key may use ${most} gas a day (UTC)`)
  },
})
