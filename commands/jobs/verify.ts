import { defineCommand } from '../../src/cli/command.ts'
import { changedJob, showChanged } from '../../src/cli/nouns/jobs/change.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { MAX_RATING } from '../../src/core/limits.ts'
import { compact } from '../../src/core/record.ts'

export const command = defineCommand({
  name: 'jobs verify',
  summary: 'accept a delivery and release the payment to the provider',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    rating: z.int().min(1).max(MAX_RATING).optional().meta({ description: 'rating, 1 to 5' }),
    comment: z.string().optional().meta({ description: 'comment', value: 'text' }),
  }),
  examples: [
    'souk jobs verify job_0123456789abcdef',
    'souk jobs verify job_0123456789abcdef --rating 5 --comment "Quick and right"',
  ],
  run: async (context) => {
    const asked = { params: { id: context.args.job }, body: compact(context.options) }
    return changedJob(await pay(context, await context.session(), { endpoint: 'verifyJob', asked }))
  },
  view: (job, io) => showChanged('verified', job, io),
})
