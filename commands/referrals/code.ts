import { defineCall } from '../../src/cli/command.ts'

const CODE = /^\w{1,64}$/

export const command = defineCall({
  name: 'referrals code',
  summary: 'show your referral code',
  examples: ['souk referrals code', 'souk referrals code --json'],
  asks: 'getReferralCode',
  asked: () => ({}),
  view({ referral_code: code }, io) {
    io.line(code)
    // Only what has the form of a code is put into a line to paste.
    if (CODE.test(code)) io.note(`they register with: ${io.hint(`souk account register --referral-code ${code}`)}`)
  },
})
