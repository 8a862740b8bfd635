import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { Rate, showTraffic } from '../../src/market/traffic.ts'

export const command = defineCommand({
  name: 'seed traffic',
  summary: 'make the demo users buy and sell until ctrl-c',
  description:
    'Buyers buy at this rate and sellers deliver, with normal requests and test money. Missing users register first.',
  options: z.object({
    rate: Rate.default(30).meta({ description: 'sales per minute', value: 'n/min' }),
    for: z.string().optional().meta({ description: 'stop after this time', value: 'duration' }),
  }),
  examples: ['souk seed traffic --rate 60/min --for 2s', 'souk seed traffic --rate 120 --for 1s --ndjson'],
  endsItself: true,
  async *run(context) {
    const { runTraffic } = await import('../../src/market/traffic.ts')
    yield* runTraffic(context, context.options)
  },
  view: showTraffic,
})
