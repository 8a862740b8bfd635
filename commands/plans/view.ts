import { defineCall } from '../../src/cli/command.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { plan } from '../../src/nouns/plans.ts'

export const command = defineCall({
  name: 'plans view',
  summary: 'show one plan: price, services, provider',
  args: z.object({ plan: z.string().meta({ description: 'id of the plan' }) }),
  examples: ['souk plans view plan_0123456789abcdef', 'souk plans view plan_0123456789abcdef --json'],
  asks: 'getPlan',
  asked: ({ args }) => ({ params: { id: args.plan } }),
  view: (row, io) => showNoun(plan, row, io),
})
