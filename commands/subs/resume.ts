import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { act, showSubscription } from './shown.ts'

export const command = defineCommand({
  name: 'subs resume',
  summary: 'go on with a paused subscription, or take a cancellation back',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({}),
  examples: ['souk subs resume sub_0123456789abcdef', 'souk subs resume sub_0123456789abcdef --json'],
  run: async (context) => act(await context.session(), 'resumeSubscription', context.args.subscription),
  view: showSubscription,
})
