import { headersAt } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'jobs send',
  summary: 'send a message in the conversation of a job',
  args: z.object({
    job: z.string().meta({ description: 'id of the job' }),
    text: z.string().meta({ description: 'message' }),
  }),
  options: z.object({}),
  examples: ['souk jobs send job_0123456789abcdef "Thank you"', 'souk jobs send job_0123456789abcdef "When?" --json'],
  async run(context) {
    const session = await context.session()
    return session.call('postJobMessage', {
      params: { id: context.args.job },
      body: { message: context.args.text },
      headers: await headersAt(context, session, context.args.job),
    })
  },
  view: ({ id }, io) => io.line(`${green('✓')} sent   ${id}`),
})
