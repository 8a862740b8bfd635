import { defineCommand } from '../../src/cli/command.ts'
import { act, showSubscription } from '../../src/cli/nouns/subscriptions.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'subs resume',
  summary: 'resume a paused subscription, or undo a cancellation',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({
    keep: z.boolean().default(false).meta({ description: 'undo a scheduled cancellation' }),
  }),
  examples: ['souk subs resume sub_0123456789abcdef', 'souk subs resume sub_0123456789abcdef --keep --json'],
  run: async (context) =>
    act(await context.session(), 'resumeSubscription', { id: context.args.subscription, keep: context.options.keep }),
  view: showSubscription,
})
