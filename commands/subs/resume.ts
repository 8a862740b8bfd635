import { defineCall } from '../../src/cli/command.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { subscription } from '../../src/nouns/subscriptions.ts'

export const command = defineCall({
  name: 'subs resume',
  summary: 'resume a paused subscription, or undo a cancellation',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({
    keep: z.boolean().default(false).meta({ description: 'undo a scheduled cancellation' }),
  }),
  examples: ['souk subs resume sub_0123456789abcdef', 'souk subs resume sub_0123456789abcdef --keep --json'],
  asks: 'resumeSubscription',
  asked: ({ args, options: { keep } }) => ({
    params: { id: args.subscription },
    ...(keep ? { body: { keep } } : {}),
  }),
  view: (row, io) => showNoun(subscription, row, io),
})
