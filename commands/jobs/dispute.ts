import { defineCommand } from '../../src/cli/command.ts'
import { changedJob, showChanged } from '../../src/cli/nouns/jobs/change.ts'
import { mustHold, recordOnly } from '../../src/cli/nouns/jobs/dispute.ts'
import * as z from '../../src/cli/params.ts'
import { pay } from '../../src/cli/wallet/paying.ts'
import { wordsOf } from '../../src/client/call.ts'

const categories = ['not_delivered', 'wrong_deliverable', 'quality', 'other'] as const

export const command = defineCommand({
  name: 'jobs dispute',
  summary: 'dispute a delivery; money still held stays held',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    reason: z.string().meta({ description: 'description of the problem', value: 'text' }),
    category: z.enum(categories).default('quality').meta({ description: 'kind of problem' }),
    evidence: z
      .array(z.string())
      .default([])
      .meta({ description: 'id of a file in the conversation', value: 'file_…' }),
    recordOnly,
  }),
  examples: [
    'souk jobs dispute job_0123456789abcdef --reason "Half of it is missing"',
    'souk jobs dispute job_0123456789abcdef --category wrong_deliverable --reason "Another page" --json',
  ],
  async run(context) {
    const { reason, category, evidence, recordOnly } = context.options
    const complaint = { reason, category, ...(evidence.length > 0 ? { evidence } : {}) }
    const params = { id: context.args.job }
    const unpaid = wordsOf('disputeJob', { params, body: { ...complaint, must_hold: !recordOnly } })
    const session = await context.session()
    const must_hold = await mustHold(session, unpaid, { io: context.io, recordOnly })
    return changedJob(
      await pay(context, session, { endpoint: 'disputeJob', asked: { params, body: { ...complaint, must_hold } } }),
    )
  },
  view: (job, io) => showChanged('disputed', job, io),
})
