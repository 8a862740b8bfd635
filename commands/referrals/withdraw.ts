import { z } from 'zod'
import { ownHeaders } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { green } from '../../src/cli/text.ts'

export const command = defineCommand({
  name: 'referrals withdraw',
  summary: 'move referral earnings to your balance',
  description: 'All that is payable moves, from $1 on; `souk referrals list` shows how much that is.',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk referrals withdraw --dry-run', 'souk referrals withdraw --dry-run --json'],
  async run(context) {
    const session = await context.session()
    const headers = await ownHeaders(session)
    return session.row('withdrawReferrals', { method: 'POST', path: '/v1/referrals/withdraw', headers })
  },
  view: ({ withdrawn, balance }, io) => io.line(`${green('✓')} $${withdrawn} moved; the balance is $${balance}`),
})
