import { withdrawalTargets } from '../../src/api/sections/referrals.ts'
import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'referrals withdraw',
  summary: 'move referral earnings to your balance or wallet',
  description: 'Moves all payable earnings, $1 at least. See the amount with `souk referrals list`.',
  options: z.object({
    to: z.enum(withdrawalTargets).default('balance').meta({ description: 'destination', value: 'target' }),
  }),
  examples: ['souk referrals withdraw --dry-run', 'souk referrals withdraw --to wallet --dry-run --json'],
  asks: 'withdrawReferrals',
  asked: async (context) => ({
    body: { to: context.options.to },
    headers: {
      ...(await (await context.session()).ownHeaders()),
      'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID(),
    },
  }),
  view({ withdrawn, balance, payout_id: payout }, io) {
    const where = payout === null ? `moved; the balance is $${balance}` : `is on its way to your wallet as ${payout}`
    io.line(`${green('✓')} $${withdrawn} ${where}`)
  },
})
