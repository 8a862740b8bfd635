import { defineCommand } from '../../src/cli/command.ts'
import { readThread } from '../../src/cli/nouns/threads.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'threads decline',
  summary: 'end a negotiation, or cancel a job that is not delivered',
  description: 'Cancelling a job refunds the full payment, after a confirmation.',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({ reason: z.string().optional().meta({ description: 'reason, for the other party' }) }),
  examples: [
    'souk threads decline thr_0123456789abcdef',
    'souk threads decline thr_0123456789abcdef --reason "Too slow" --json',
  ],
  prints: 'declineThread',
  async run(context) {
    const session = await context.session()
    const { job_id } = await readThread(context, session, context.args.thread)
    if (job_id !== null) await context.io.confirm(`Cancel ${job_id}? The payment goes back to the buyer.`)
    return session.call('declineThread', {
      params: { id: context.args.thread },
      body: compact({ reason: context.options.reason }),
    })
  },
  view: ({ thread_id, status, job }, io) =>
    io.line(
      `${green('✓')} ${thread_id} is ${status}${job ? `   ${job.job_id} ${job.escrow?.status ?? job.status}` : ''}`,
    ),
})
