import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'

const CODE = /^\w{1,64}$/

export const command = defineCommand({
  name: 'referrals code',
  summary: 'show your referral code',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk referrals code', 'souk referrals code --json'],
  async run(context) {
    const session = await context.session()
    return session.call('getReferralCode', {})
  },
  view({ referral_code: code }, io) {
    io.line(code)
    // Only what has the form of a code is put into a line to paste.
    if (CODE.test(code)) io.note(`they register with: ${io.hint(`souk account register --referral-code ${code}`)}`)
  },
})
