import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { showNoun } from '../../src/cli/nouns/lists.ts'
import * as z from '../../src/cli/params.ts'
import { subscription } from '../../src/nouns/subscriptions.ts'

export const command = defineCommand({
  name: 'subs cancel',
  summary: 'cancel a subscription at the end of its paid period',
  description:
    'Undo it before then with `souk subs resume --keep`. --now ends the subscription immediately, without a refund.',
  args: z.object({ subscription: z.string().meta({ description: 'id of the subscription' }) }),
  options: z.object({
    atPeriodEnd: z.boolean().default(false).meta({ description: 'cancel at the end of the paid period (default)' }),
    now: z.boolean().default(false).meta({ description: 'cancel immediately, without a refund' }),
  }),
  examples: [
    'souk subs cancel sub_0123456789abcdef --at-period-end',
    'souk subs cancel sub_0123456789abcdef --now --yes --json',
  ],
  prints: 'cancelSubscription',
  async run(context) {
    const { subscription: id } = context.args
    const { now, atPeriodEnd } = context.options
    if (now && atPeriodEnd) throw usage('--now and --at-period-end exclude each other.')
    const session = await context.session()
    if (now) await context.io.confirm(`End ${id} now? What was paid is not given back.`)
    return session.call('cancelSubscription', { params: { id }, body: { at_period_end: !now } })
  },
  view: (row, io) => showNoun(subscription, row, io),
})
