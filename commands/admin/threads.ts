import { threadFields } from '../../src/api/endpoint/list-fields.ts'
import { defineCall, defineCommand } from '../../src/cli/command.ts'
import { listCommand } from '../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../src/cli/nouns/search-options.ts'
import { messageWords, sent, showMessage, showThread } from '../../src/cli/nouns/threads.ts'
import * as z from '../../src/cli/params.ts'
import { threadStatuses } from '../../src/model/words.ts'
import { thread } from '../../src/nouns/threads.ts'

export const adminThreadsList = listCommand(thread, {
  name: 'admin threads list',
  search: searchOptions(threadFields),
  summary: 'list all conversations, most recently changed first',
  description: 'Needs the admin key of the instance. Reading is logged.',
  options: {
    status: z.choice(threadStatuses, { description: 'only in this state', value: 'state' }),
    participant: z.text({ description: 'only of this participant, by id or wallet', value: 'id' }),
    role: z.choice(['buyer', 'provider'], { description: 'role of the participant' }),
  },
  examples: [
    'souk admin threads list',
    'souk admin threads list --status inquiry --json',
    'souk admin threads list --filter "age:<1d" --sort amount',
  ],
})

export const adminThreadsSend = defineCommand({
  name: 'admin threads send',
  summary: 'answer an inquiry about a house listing',
  description: 'Needs the admin key of the instance. An inquiry about any other listing is answered by its provider.',
  ...messageWords,
  examples: [
    'souk admin threads send thr_0123456789abcdef "Ten pages are fine"',
    'souk admin threads send thr_0123456789abcdef -m "Up to 50,000 characters" --json',
  ],
  prints: 'answerForHouse',
  run: async (context) => (await context.session()).call('answerForHouse', await sent(context)),
})

export const adminThreadsView = defineCall({
  name: 'admin threads view',
  summary: 'show any conversation: state, price, messages',
  description: 'Needs the admin key of the instance. Reading is logged.',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  examples: [
    'souk admin threads view thr_0123456789abcdef',
    'souk admin threads view thr_0123456789abcdef --json --fields status,messages',
  ],
  asks: 'readAnyThread',
  rows: ({ messages }) => messages ?? [],
  view(thread, io) {
    showThread(thread, io)
    for (const message of thread.messages ?? []) showMessage(message, io)
  },
})
