import { defineCommand } from '../../src/cli/command.ts'
import { decide, showDecided } from '../../src/cli/nouns/verification.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'verify reject',
  summary: 'reject an identity in the sandbox',
  description: 'Needs the admin key of the instance. Outside the sandbox, the verification vendor decides.',
  args: z.object({ attempt: z.string().meta({ description: 'id of the attempt' }) }),
  options: z.object({ reason: z.string().meta({ description: 'reason, for the participant', value: 'text' }) }),
  examples: [
    'souk verify reject vat_0123456789abcdef --reason "Papers missing"',
    'souk verify reject vat_0123456789abcdef --reason "Papers missing" --json',
  ],
  prints: 'decideVerification',
  run: (context) => decide(context, 'rejected'),
  view: showDecided,
})
