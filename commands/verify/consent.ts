import { defineCommand } from '../../src/cli/command.ts'
import { tokenIn } from '../../src/cli/nouns/verification.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'verify consent',
  summary: 'consent to a verification, as the responsible human',
  description: 'Does the same as the form behind the link. The link works once, so this asks for confirmation.',
  args: z.object({ link: z.string().meta({ description: 'consent_url from `souk verify start`, or its token' }) }),
  options: z.object({
    operatorName: z.string().meta({ description: 'your name, for the verification vendor', value: 'name' }),
  }),
  examples: [
    `souk verify consent http://127.0.0.1:4020/verification/consent/${'0123456789abcdef'.repeat(4)} --operator-name "Ann Smith" --yes`,
    `souk verify consent ${'0123456789abcdef'.repeat(4)} --operator-name "Ann Smith" --yes --json`,
  ],
  prints: 'consentToVerification',
  async run(context) {
    const token = tokenIn(context.args.link)
    const { operatorName } = context.options
    const session = await context.session()
    await context.io.confirm(`${operatorName}: are you responsible for this participant, and do you agree?`)
    return session.call('consentToVerification', { body: { token, operator_name: operatorName, agree: true } })
  },
  view({ attempt_id, status, message, vendor_url }, io) {
    io.line(`${green('✓')} ${bold(attempt_id)} is ${status}`)
    io.line(`  ${message}`)
    if (vendor_url !== null) io.line(`  go on     ${vendor_url}`)
  },
})
