import { withdrawalTargets } from '../../src/api/sections/referrals.ts'
import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'referrals withdraw',
  summary: 'move referral earnings to your balance or wallet',
  description: 'Moves all payable earnings, $1 at least. See the amount with `souk referrals list`.',
  args: z.object({}),
  options: z.object({
    to: z.enum(withdrawalTargets).default('balance').meta({ description: 'destination', value: 'target' }),
  }),
  examples: ['souk referrals withdraw --dry-run', 'souk referrals withdraw --to wallet --dry-run --json'],
  async run(context) {
    const session = await context.session()
    return session.call('withdrawReferrals', {
      body: { to: context.options.to },
      headers: {
        ...(await session.ownHeaders()),
        'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID(),
      },
    })
  },
  view({ withdrawn, balance, payout_id: payout }, io) {
    const where = payout === null ? `moved; the balance is $${balance}` : `is on its way to your wallet as ${payout}`
    io.line(`${green('✓')} $${withdrawn} ${where}`)
  },
})
