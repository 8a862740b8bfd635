import { z } from 'zod'
import { defineCommand } from '../../../src/cli/command.ts'
import { textFrom } from '../../../src/cli/nouns/threads.ts'
import { green } from '../../../src/text/text.ts'

export const command = defineCommand({
  name: 'admin threads send',
  summary: 'answer an inquiry on a listing of the house',
  description: 'Needs the admin key of the instance. In conversations of other providers only they answer.',
  args: z.object({
    thread: z.string().meta({ description: 'id of the conversation' }),
    text: z.string().optional().meta({ description: 'what to say, or - for stdin' }),
  }),
  options: z.object({
    message: z.string().optional().meta({ short: 'm', description: 'what to say, or - for stdin', value: 'text' }),
  }),
  examples: [
    'souk admin threads send thr_0123456789abcdef "Ten pages are fine"',
    'souk admin threads send thr_0123456789abcdef -m "Up to 50,000 characters" --json',
  ],
  async run(context) {
    const message = await textFrom(context.io, context.args.text, context.options.message)
    return (await context.session()).call('answerForHouse', { params: { id: context.args.thread }, body: { message } })
  },
  view: ({ id }, io) => io.line(`${green('✓')} sent   ${id}`),
})
