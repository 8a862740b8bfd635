import { defineCall } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { plan } from '../../src/nouns/plans.ts'

export const command = defineCall({
  name: 'plans edit',
  summary: 'change one of your plans',
  description:
    'A new price or period applies to new subscribers. New services apply to current subscribers from their next period.',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  options: z.object({
    name: z.string().optional().meta({ description: 'public name', value: 'name' }),
    price: z.string().optional().meta({ description: 'what you earn per period', value: 'usd' }),
    period: z.enum(['monthly', 'annual']).optional().meta({ description: 'length of a period' }),
    service: z
      .array(z.string())
      .default([])
      .meta({ description: 'id of a listing in the plan; replaces the full list', value: 'service' }),
    description: z.string().optional().meta({ description: 'description for subscribers', value: 'text' }),
  }),
  examples: [
    'souk plans edit plan_0123456789abcdef --price 6.00',
    'souk plans edit plan_0123456789abcdef --name "Basic plus" --json',
  ],
  asks: 'updatePlan',
  asked(context) {
    const { name, price, period, service, description } = context.options
    const changes = compact({
      name,
      price,
      description,
      billing_period: period,
      service_ids: service.length === 0 ? undefined : service,
    })
    if (Object.keys(changes).length === 0) throw usage('Name what to change, such as --price 6.00.')
    return { params: { id: context.args.plan }, body: changes }
  },
  view: (row, io) => showNoun(plan, row, io),
})
