import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { markRead } from '../../src/cli/nouns/read-threads.ts'
import { readThread, showMessage, showThread, type ThreadMessage } from '../../src/cli/nouns/threads.ts'
import * as z from '../../src/cli/params.ts'
import type { Thread } from '../../src/nouns/threads.ts'
import { cyan } from '../../src/text/text.ts'

const POLL_MS = 1_000

const options = z.object({
  follow: z.boolean().default(false).meta({ description: 'keep printing new messages until ctrl-c' }),
})
type Host = CommandContext<{ thread: string }, z.output<typeof options>>

export const command = defineCommand({
  name: 'threads view',
  summary: 'show a conversation: state, price, messages',
  args: z.object({ thread: z.string().meta({ description: 'id of the conversation' }) }),
  options,
  examples: ['souk threads view thr_0123456789abcdef', 'souk threads view thr_0123456789abcdef --json'],
  run: (context): Promise<Thread | ThreadMessage> | AsyncIterable<Thread | ThreadMessage> =>
    context.options.follow ? followed(context) : read(context),
  rows: (data) => ('proposal' in data ? (data.messages ?? []) : [data]),
  view(data, io) {
    if (!('proposal' in data)) return showMessage(data, io)
    showThread(data, io)
    for (const message of data.messages ?? []) showMessage(message, io)
    if (data.status === 'negotiating') io.note(`  next: ${cyan(io.hint(`souk threads accept ${data.thread_id}`))}`)
  },
})

async function read(context: Host): Promise<Thread> {
  const session = await context.session()
  const thread = await readThread(context, session, context.args.thread)
  await markRead(context, session, thread)
  return thread
}

/** The conversation as it is, then each message that comes. */
async function* followed(context: Host): AsyncGenerator<Thread | ThreadMessage> {
  let thread = await read(context)
  yield thread
  const seen = new Set(thread.messages?.map(({ id }) => id))
  while (thread.status !== 'cancelled' && !context.signal.aborted) {
    await context.system.sleep(POLL_MS, context.signal)
    thread = await read(context)
    for (const message of thread.messages ?? []) {
      if (seen.has(message.id)) continue
      seen.add(message.id)
      yield message
    }
  }
}
