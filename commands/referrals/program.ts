import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { bold } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'referrals program',
  summary: 'show the rates and rules of the referral program',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk referrals program', 'souk referrals program --json'],
  async run(context) {
    return (await context.session()).call('getReferralProgram', {})
  },
  view({ description, rates, minimum_withdrawal: minimum, rules, participation }, io) {
    io.line(description)
    io.line(
      `agents ${bold(`${rates.agent_pct} %`)}   providers ${bold(`${rates.provider_pct} %`)}   minimum $${minimum}`,
    )
    for (const rule of rules) io.line(`  ${rule}`)
    io.line(participation.how_to_refer)
  },
})
