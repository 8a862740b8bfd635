import { z } from 'zod'
import { defineCommand } from '../../src/cli/command.ts'
import { cyan } from '../../src/cli/text.ts'
import { readThread, showMessage, showThread } from './thread.ts'

export const command = defineCommand({
  name: 'threads view',
  summary: 'show a conversation: state, price, messages',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options: z.object({}),
  examples: ['souk threads view thr_0123456789abcdef', 'souk threads view thr_0123456789abcdef --json'],
  async run(context) {
    return readThread(await context.session(), context.args.thread)
  },
  rows: ({ messages = [] }) => messages,
  view(thread, io) {
    showThread(thread, io)
    for (const message of thread.messages ?? []) showMessage(message, io)
    if (thread.status === 'negotiating') io.note(`  next: ${cyan(`souk threads accept ${thread.thread_id}`)}`)
  },
})
