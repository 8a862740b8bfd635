import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { changeJob, showChanged } from './change.ts'

const categories = ['not_delivered', 'wrong_deliverable', 'quality', 'other'] as const

export const command = defineCommand({
  name: 'jobs dispute',
  summary: 'say what is wrong with a delivery; what is still held stays held',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options: z.object({
    reason: z.string().meta({ description: 'what is wrong', value: 'text' }),
    category: z.enum(categories).default('quality').meta({ description: 'what kind of fault' }),
    evidence: z
      .array(z.string())
      .default([])
      .meta({ description: 'id of a file in the conversation', value: 'file_…' }),
  }),
  examples: [
    'souk jobs dispute job_0123456789abcdef --reason "Half of it is missing"',
    'souk jobs dispute job_0123456789abcdef --category wrong_deliverable --reason "Another page" --json',
  ],
  run(context) {
    const { reason, category, evidence } = context.options
    const body = { reason, category, ...(evidence.length > 0 ? { evidence } : {}) }
    return changeJob(context, { verb: 'dispute', job: context.args.job, body })
  },
  view: (job, io) => showChanged('disputed', job, io),
})
