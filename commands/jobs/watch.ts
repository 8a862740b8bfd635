import { defineCommand } from '../../src/cli/command.ts'
import { noFreeRead, waitForJob } from '../../src/cli/nouns/jobs/jobs.ts'
import * as z from '../../src/cli/params.ts'
import { bold, cyan } from '../../src/text/text.ts'

const BAD_ENDS = ['failed', 'expired', 'cancelled', 'refunded']

export const command = defineCommand({
  name: 'jobs watch',
  summary: 'wait until a job ends',
  description: 'Waiting never pays. Access needs the job token, the API key of the wallet, or a sign-in.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    exitStatus: z.boolean().default(false).meta({ description: 'exit with code 11 if it ended without a delivery' }),
  }),
  examples: ['souk jobs watch job_0123456789abcdef', 'souk jobs watch job_0123456789abcdef --exit-status --json'],
  prints: 'getJob',
  async run(context) {
    const session = await context.session()
    const { job: id } = context.args
    const waited = await waitForJob(context, session, id)
    if (waited.end === 'unreadable') throw noFreeRead(id)
    if (waited.end === 'pending') context.exit('pending')
    const { job } = waited
    if (context.options.exitStatus && BAD_ENDS.includes(job.status)) context.exit('check_failed')
    return job
  },
  view(job, io) {
    io.line(`${bold(job.job_id)}   ${job.status}`)
    io.note(`  next: ${cyan(io.hint(`souk jobs view ${job.job_id}`))}`)
  },
})
