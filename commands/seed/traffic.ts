import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { Rate, showTraffic } from '../../src/market/rate.ts'

export const command = defineCommand({
  name: 'seed traffic',
  summary: 'have the people of the demo buy and sell until ctrl-c',
  description:
    'Buyers buy at the rate given and sellers do the work; every act is a request that anybody could send, paid with test money. People who are not there yet register first.',
  args: z.object({}),
  options: z.object({
    rate: Rate.default(30).meta({ description: 'sales a minute', value: 'n/min' }),
    for: z.string().optional().meta({ description: 'end after this time', value: 'duration' }),
  }),
  examples: ['souk seed traffic --rate 60/min --for 2s', 'souk seed traffic --rate 120 --for 1s --ndjson'],
  endsItself: true,
  async *run(context) {
    const { runTraffic } = await import('../../src/market/run-traffic.ts')
    yield* runTraffic(context, context.options)
  },
  view: showTraffic,
})
