import { defineCall } from '../../src/cli/command.ts'
import { bold } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'referrals program',
  summary: 'show the rates and rules of the referral program',
  examples: ['souk referrals program', 'souk referrals program --json'],
  asks: 'getReferralProgram',
  asked: () => ({}),
  view({ description, rates, minimum_withdrawal: minimum, rules, participation }, io) {
    io.line(description)
    io.line(
      `agents ${bold(`${rates.agent_pct} %`)}   providers ${bold(`${rates.provider_pct} %`)}   minimum $${minimum}`,
    )
    for (const rule of rules) io.line(`  ${rule}`)
    io.line(participation.how_to_refer)
  },
})
