import { defineCall } from '../../../src/cli/command.ts'
import { showMessage, showThread } from '../../../src/cli/nouns/threads.ts'
import * as z from '../../../src/cli/params.ts'

export const command = defineCall({
  name: 'admin threads view',
  summary: 'show any conversation: state, price, messages',
  description: 'Needs the admin key of the instance. Reading is logged.',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  examples: [
    'souk admin threads view thr_0123456789abcdef',
    'souk admin threads view thr_0123456789abcdef --json --fields status,messages',
  ],
  asks: 'readAnyThread',
  asked: ({ args }) => ({ params: { id: args.thread } }),
  rows: ({ messages }) => messages ?? [],
  view(thread, io) {
    showThread(thread, io)
    for (const message of thread.messages ?? []) showMessage(message, io)
  },
})
