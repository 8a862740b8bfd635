import { headersAt } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { disputeText, heldOrAgreed, recordOnly } from '../../src/cli/nouns/jobs/dispute.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { disputeCategories } from '../../src/model/job.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'threads dispute',
  summary: 'dispute a delivery; money still held stays held',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    reason: z.string().meta({ description: 'description of the problem', value: 'text' }),
    category: z.enum(disputeCategories).default('other').meta({ description: 'kind of problem' }),
    evidence: z.array(z.string()).default([]).meta({ description: 'id of an attached file', value: 'file' }),
    recordOnly,
  }),
  examples: [
    'souk threads dispute thr_0123456789abcdef --reason "Half of it is missing"',
    'souk threads dispute thr_0123456789abcdef --reason "Not mine" --category wrong_deliverable --json',
  ],
  prints: 'disputeThread',
  async run(context) {
    const { reason, category, evidence, recordOnly } = context.options
    const session = await context.session()
    const headers = await headersAt(context, session, context.args.thread)
    const send = (must_hold: boolean) =>
      session.call('disputeThread', {
        params: { id: context.args.thread },
        body: { reason, category, must_hold, ...compact({ evidence: evidence.length === 0 ? undefined : evidence }) },
        headers,
      })
    return heldOrAgreed(send, { io: context.io, recordOnly })
  },
  view({ thread_id, job }, io) {
    const dispute = job?.dispute
    io.line(`${green('✓')} ${thread_id}: the dispute is ${dispute?.status ?? 'recorded'}   ${job?.job_id ?? ''}`)
    if (dispute) io.line(`  ${disputeText(dispute)}`)
  },
})
