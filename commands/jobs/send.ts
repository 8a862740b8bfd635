import { headersAt } from '../../src/cli/account.ts'
import { defineCall } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'jobs send',
  summary: 'send a message in the conversation of a job',
  args: z.object({
    job: z.string().meta({ description: 'id of the job' }),
    text: z.string().meta({ description: 'message' }),
  }),
  examples: ['souk jobs send job_0123456789abcdef "Thank you"', 'souk jobs send job_0123456789abcdef "When?" --json'],
  asks: 'postJobMessage',
  asked: async (context) => ({
    params: { id: context.args.job },
    body: { message: context.args.text },
    headers: await headersAt(context, await context.session(), context.args.job),
  }),
  view: ({ id }, io) => io.line(`${green('✓')} sent   ${id}`),
})
