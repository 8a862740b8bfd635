import { defineCall } from '../../src/cli/command.ts'
import { DOCUMENT, readDocument } from '../../src/cli/files/document.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'threads update',
  summary: 'update a job, as its provider: started, delivered or failed',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({
    status: z.enum(['in_progress', 'completed', 'failed']).meta({ description: 'status of the work' }),
    deliverable: z
      .string()
      .optional()
      .meta({ description: `deliverable: ${DOCUMENT}, - for stdin`, value: 'file' }),
    progress: z.string().optional().meta({ description: 'progress', value: 'text' }),
    notes: z.string().optional().meta({ description: 'message to send with it', value: 'text' }),
  }),
  examples: [
    'souk threads update thr_0123456789abcdef --status in_progress --progress 40',
    'souk threads update thr_0123456789abcdef --status completed --deliverable deliverable.json --json',
  ],
  asks: 'updateThread',
  async asked(context) {
    const { status, deliverable: file, progress, notes } = context.options
    const deliverables = file === undefined ? undefined : await readDocument(context.io, file)
    return {
      params: { id: context.args.thread },
      body: { status, ...compact({ deliverables, progress, notes }) },
    }
  },
  view: ({ thread_id, status, job_id }, io) => io.line(`${green('✓')} ${thread_id} is ${status}   ${job_id ?? ''}`),
})
