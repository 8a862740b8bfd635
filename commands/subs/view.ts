import { defineCall } from '../../src/cli/command.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { subscription } from '../../src/nouns/subscriptions.ts'

export const command = defineCall({
  name: 'subs view',
  summary: 'show a subscription: period, access, next charge',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  examples: ['souk subs view sub_0123456789abcdef', 'souk subs view sub_0123456789abcdef --json'],
  asks: 'getSubscription',
  asked: ({ args }) => ({ params: { id: args.subscription } }),
  view: (row, io) => showNoun(subscription, row, io),
})
