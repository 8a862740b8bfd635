import { defineCommand } from '../../../src/cli/command.ts'
import { usage } from '../../../src/cli/exit.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { rulings } from '../../../src/model/job.ts'
import { bold, green } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'admin jobs resolve',
  summary: 'decide a dispute: pay the provider, refund the buyer, or split',
  description:
    'Needs the admin key of the instance. Asks for confirmation: money moves immediately and cannot be returned.',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    outcome: z.enum(rulings).meta({ description: 'outcome; release pays the provider' }),
    buyerAmount: z.string().optional().meta({ description: 'amount that a split refunds to the buyer', value: 'usd' }),
    reason: z.string().meta({ description: 'reason, for both parties', value: 'text' }),
  }),
  examples: [
    'souk admin jobs resolve job_0123456789abcdef --outcome refund --reason "Nothing was delivered" --yes',
    'souk admin jobs resolve job_0123456789abcdef --outcome split --buyer-amount 0.10 --reason "Half of it" --yes --json',
  ],
  prints: 'resolveJob',
  async run(context) {
    const { outcome, buyerAmount, reason } = context.options
    if ((outcome === 'split') !== (buyerAmount !== undefined)) {
      throw usage(outcome === 'split' ? 'A split needs --buyer-amount.' : '--buyer-amount is for a split only.')
    }
    const session = await context.session()
    await context.io.confirm(`Resolve ${context.args.job} by ${outcome} at ${session.target.name}?`)
    return session.call('resolveJob', {
      params: { id: context.args.job },
      body: { outcome, reason, ...compact({ buyer_amount: buyerAmount }) },
    })
  },
  view({ job_id, status, escrow, dispute }, io) {
    io.line(`${green('✓')} ${bold(job_id)} is ${status}   escrow ${escrow?.status ?? 'none'}`)
    if (dispute?.resolution_reason) io.line(`  ${dispute.resolution ?? ''}: ${dispute.resolution_reason}`)
  },
})
