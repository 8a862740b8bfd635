import { defineCommand } from '../../src/cli/command.ts'
import { act, showSubscription } from '../../src/cli/nouns/subscriptions.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'subs pause',
  summary: 'pause a subscription: no further charges; the paid period continues',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({}),
  examples: ['souk subs pause sub_0123456789abcdef', 'souk subs pause sub_0123456789abcdef --json'],
  run: async (context) => act(await context.session(), 'pauseSubscription', { id: context.args.subscription }),
  view: showSubscription,
})
