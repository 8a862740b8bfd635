import { defineCommand } from '../../src/cli/command.ts'
import { decide, showDecided } from '../../src/cli/nouns/verification.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'verify reject',
  summary: "have the sandbox's vendor reject an identity",
  description: 'Needs the admin key of the instance. Where the vendor is a real one, it decides by itself.',
  args: z.object({ attempt: z.string().meta({ description: 'id of the attempt' }) }),
  options: z.object({ reason: z.string().meta({ description: 'why, for the participant', value: 'text' }) }),
  examples: [
    'souk verify reject vat_0123456789abcdef --reason "Papers missing"',
    'souk verify reject vat_0123456789abcdef --reason "Papers missing" --json',
  ],
  run: (context) => decide(context, 'rejected'),
  view: showDecided,
})
