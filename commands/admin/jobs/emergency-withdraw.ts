import { defineCommand } from '../../../src/cli/command.ts'
import * as z from '../../../src/cli/params.ts'
import { bold, green } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'admin jobs emergency-withdraw',
  summary: 'refund a job from escrow to its buyer, even while escrow is paused',
  description:
    'Needs the admin key of the instance. Asks for confirmation: money moves immediately and cannot be returned.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    reason: z.string().meta({ description: 'reason, for both parties and the log', value: 'text' }),
  }),
  examples: [
    'souk admin jobs emergency-withdraw job_0123456789abcdef --reason "The provider is gone" --dry-run --yes',
    'souk admin jobs emergency-withdraw job_0123456789abcdef --reason "The provider is gone" --dry-run --yes --json',
  ],
  prints: 'withdrawJob',
  async run(context) {
    const session = await context.session()
    const { job: id } = context.args
    await context.io.confirm(`Pay what is held for ${id} at ${session.target.name} back to its buyer?`)
    return session.call('withdrawJob', { params: { id }, body: { reason: context.options.reason } })
  },
  view({ job_id, status, escrow }, io) {
    io.line(`${green('✓')} ${bold(job_id)} is ${status}   escrow ${escrow?.status ?? 'none'}`)
  },
})
