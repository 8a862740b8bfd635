import { defineCommand } from '../../src/cli/command.ts'
import { showSubscription } from '../../src/cli/nouns/subscriptions.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'subs view',
  summary: 'show a subscription: period, access, next charge',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({}),
  examples: ['souk subs view sub_0123456789abcdef', 'souk subs view sub_0123456789abcdef --json'],
  async run(context) {
    const session = await context.session()
    return session.call('getSubscription', { params: { id: context.args.subscription } })
  },
  view: showSubscription,
})
