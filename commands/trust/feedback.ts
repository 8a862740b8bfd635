import { defineCommand } from '../../src/cli/command.ts'
import { readDocument, showDocument } from '../../src/cli/nouns/document.ts'
import * as z from '../../src/cli/params.ts'

export const command = defineCommand({
  name: 'trust feedback',
  summary: 'show the ERC-8004 feedback file of a job',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    check: z
      .boolean()
      .default(false)
      .meta({ description: 'recompute the keccak-256 hash; exit with code 11 if it differs' }),
    save: z.string().optional().meta({ description: 'write the file here', value: 'file' }),
  }),
  examples: ['souk trust feedback job_0123456789abcdef', 'souk trust feedback job_0123456789abcdef --check --json'],
  run: (context) =>
    readDocument(context, { endpoint: 'getFeedbackFile', asked: { params: { jobId: context.args.job } } }),
  view: showDocument,
})
