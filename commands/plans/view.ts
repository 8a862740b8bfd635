import { defineCommand } from '../../src/cli/command.ts'
import { showPlan } from '../../src/cli/nouns/plans.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'plans view',
  summary: 'show one plan: price, services, provider',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  options: z.object({}),
  examples: ['souk plans view plan_0123456789abcdef', 'souk plans view plan_0123456789abcdef --json'],
  async run(context) {
    const session = await context.session()
    return session.call('getPlan', { params: { id: context.args.plan } })
  },
  view: showPlan,
})
