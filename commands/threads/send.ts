import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { textFrom } from '../../src/cli/nouns/threads.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'threads send',
  summary: 'say something in a conversation',
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    text: z.string().optional().meta({ description: 'what to say, or - for stdin' }),
  }),
  options: z.object({
    message: z.string().optional().meta({ short: 'm', description: 'what to say, or - for stdin', value: 'text' }),
  }),
  examples: [
    'souk threads send thr_0123456789abcdef "Could you do ten?"',
    'souk threads send thr_0123456789abcdef -m "When?" --json',
  ],
  async run(context) {
    const message = await textFrom(context.io, context.args.text, context.options.message)
    const session = await context.session()
    return session.call('postThreadMessage', { params: { id: context.args.thread }, body: { message } })
  },
  view: ({ id }, io) => io.line(`${green('✓')} sent   ${id}`),
})
