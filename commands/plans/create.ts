import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../../src/cli/files/document.ts'
import { exampleOf, exampleOption } from '../../src/cli/files/examples.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import type { SentBody } from '../../src/client/call.ts'
import { compact } from '../../src/core/record.ts'
import { plan as noun } from '../../src/nouns/plans.ts'

export const command = defineCommand({
  name: 'plans create',
  summary: 'create a subscription plan for your services',
  args: z.object({}),
  options: z.object({
    file: z
      .string()
      .optional()
      .meta({ short: 'f', description: `${DOCUMENT} of the plan, - for stdin`, value: 'file' }),
    example: exampleOption,
    name: z.string().optional().meta({ description: 'public name', value: 'name' }),
    price: z.string().optional().meta({ description: 'what you earn per period', value: 'usd' }),
    period: z.enum(['monthly', 'annual']).optional().meta({ description: 'length of a period (default: monthly)' }),
    service: z.array(z.string()).default([]).meta({ description: 'id of one of your listings', value: 'service' }),
    description: z.string().optional().meta({ description: 'description for subscribers', value: 'text' }),
  }),
  examples: [
    'souk plans create --example',
    'souk plans create --name Basic --price 5.00 --service svc_0123456789abcdef',
    'souk plans create --name Yearly --price 50.00 --period annual --service svc_0123456789abcdef --json',
  ],
  async run(context) {
    const { file, example, name, price, period, service, description } = context.options
    if (example) return { example: exampleOf('plan').trimEnd().split('\n') }
    const given = file === undefined ? undefined : await readObjectFile(context.io, file, 'the plan')
    if (given === undefined && service.length === 0) throw usage('Name the listings that are in it by --service.')
    const body = {
      billing_period: 'monthly',
      ...given,
      ...compact({ name, price, billing_period: period, description }),
      ...(service.length === 0 ? {} : { service_ids: service }),
    }
    const session = await context.session()
    return session.call('createPlan', { body: unjudged<SentBody<'createPlan'>>(body) })
  },
  view(plan, io) {
    if ('example' in plan) for (const line of plan.example) io.line(line)
    else showNoun(noun, plan, io)
  },
})
