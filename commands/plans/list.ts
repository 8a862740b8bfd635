import { listCommand } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { plan } from '../../src/nouns/plans.ts'

export const command = listCommand(plan, {
  name: 'plans list',
  summary: 'browse plans, newest first',
  list: 'listPlans',
  options: { provider: z.string().optional().meta({ description: 'only of this provider', value: 'participant' }) },
  examples: ['souk plans list', 'souk plans list --provider p_0123456789abcdef --json'],
})
