import { listCommand } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { subscriptionStatuses } from '../../src/model/words.ts'
import { subscription } from '../../src/nouns/subscriptions.ts'

export const command = listCommand(subscription, {
  name: 'subs list',
  summary: 'list subscriptions, yours and those to your plans, newest first',
  list: 'listSubscriptions',
  options: {
    status: z.enum(subscriptionStatuses).optional().meta({ description: 'only in this state' }),
    role: z.enum(['buyer', 'provider']).optional().meta({ description: 'only as buyer or as provider' }),
  },
  examples: ['souk subs list', 'souk subs list --role buyer --status active --json'],
})
