import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { showPlan } from '../../src/cli/nouns/plans.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'

export const command = defineCommand({
  name: 'plans create',
  summary: 'create a subscription plan for your services',
  args: z.object({}),
  options: z.object({
    name: z.string().meta({ description: 'public name', value: 'name' }),
    price: z.string().meta({ description: 'what you earn per period', value: 'usd' }),
    period: z.enum(['monthly', 'annual']).default('monthly').meta({ description: 'length of a period' }),
    service: z.array(z.string()).default([]).meta({ description: 'id of one of your listings', value: 'service' }),
    description: z.string().optional().meta({ description: 'description for subscribers', value: 'text' }),
  }),
  examples: [
    'souk plans create --name Basic --price 5.00 --service svc_0123456789abcdef',
    'souk plans create --name Yearly --price 50.00 --period annual --service svc_0123456789abcdef --json',
  ],
  async run(context) {
    const { name, price, period, service, description } = context.options
    if (service.length === 0) throw usage('Name the listings that are in it by --service.')
    const body = { name, price, billing_period: period, service_ids: service, ...compact({ description }) }
    const session = await context.session()
    return session.call('createPlan', { body })
  },
  view: showPlan,
})
