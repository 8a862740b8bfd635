import { type CommandContext, defineCall } from '../../src/cli/command.ts'
import { DOCUMENT, readDocument } from '../../src/cli/files/document.ts'
import * as z from '../../src/cli/params.ts'
import type { Json } from '../../src/core/json.ts'
import { compact } from '../../src/core/record.ts'
import { bold, green } from '../../src/text/text.ts'

const options = z.object({
  status: z
    .enum(['in_progress', 'completed', 'failed'])
    .optional()
    .meta({ description: 'new status (default: completed with a deliverable, else in_progress)' }),
  progress: z.string().optional().meta({ description: 'progress, such as 40%', value: 'text' }),
  deliverable: z
    .string()
    .optional()
    .meta({ description: `deliverable: ${DOCUMENT}, - for stdin`, value: 'file' }),
  notes: z.string().optional().meta({ description: 'message to the buyer', value: 'text' }),
})
type Host = CommandContext<{ job: string }, z.output<typeof options>>

export const command = defineCall({
  name: 'jobs update',
  summary: 'update or deliver a job, as its provider',
  args: z.object({ job: z.string().meta({ description: 'id of the job' }) }),
  options,
  examples: [
    'souk jobs update job_0123456789abcdef --progress 40%',
    'souk jobs update job_0123456789abcdef --deliverable deliverable.json',
    'souk jobs update job_0123456789abcdef --status failed --notes "The page is gone" --json',
  ],
  asks: 'updateJob',
  async asked(context) {
    const { progress, notes, deliverable, status = deliverable ? 'completed' : 'in_progress' } = context.options
    return {
      params: { id: context.args.job },
      body: { status, ...compact({ progress, notes }), ...(await delivered(context, deliverable)) },
    }
  },
  view: (job, io) => io.line(`${green('✓')} ${bold(job.job_id)}   ${job.status}`),
})

async function delivered(context: Host, file: string | undefined): Promise<{ deliverables?: Json }> {
  if (file === undefined) return {}
  return { deliverables: await readDocument(context.io, file) }
}
