import type { WireAnswer } from '../../src/api/index.ts'
import { ownId } from '../../src/cli/account.ts'
import { type CommandContext, defineCommand, watchOptions } from '../../src/cli/command.ts'
import { columnsOf, PAGE_ROWS_MAX, pageOptions, showPage } from '../../src/cli/nouns/lists.ts'
import { hasNews, newMessages, readThread } from '../../src/cli/nouns/threads.ts'
import { allRows, type NextPage, nextOffset } from '../../src/cli/paging.ts'
import * as z from '../../src/cli/params.ts'
import type { Session } from '../../src/cli/session.ts'
import { compact } from '../../src/core/record.ts'
import { threadStatuses } from '../../src/model/words.ts'
import { type Thread, thread } from '../../src/nouns/threads.ts'

type ThreadPage = WireAnswer<'listThreads'>

export const command = defineCommand({
  name: 'threads list',
  summary: 'list your conversations, most recently changed first',
  options: z.object({
    status: z.choice(threadStatuses, { description: 'only in this state', value: 'state' }),
    role: z.choice(['buyer', 'provider'], { description: 'only as buyer or as provider' }),
    unread: z.flag({ description: 'only with unread messages' }),
    ...pageOptions,
    ...watchOptions,
  }),
  examples: [
    'souk threads list',
    'souk threads list --unread',
    'souk threads list --role provider --status negotiating --json',
  ],
  prints: 'listThreads',
  async run(context) {
    const { limit, page, status, role, unread } = context.options
    const session = await context.session()
    const ask = (offset: number, rows: number) =>
      session.call('listThreads', {
        query: { limit: String(rows), offset: String(offset), ...compact({ status, role }) },
      })
    if (!unread) return ask((page - 1) * limit, limit)
    const pages = {
      ask: (at: NextPage | undefined) => ask(at !== undefined && 'offset' in at ? at.offset : 0, PAGE_ROWS_MAX),
      rowsOf: ({ threads }: ThreadPage) => threads,
      nextOf: (one: ThreadPage) => nextOffset(one, one.threads.length),
    }
    const threads = await unreadOf(context, session, await allRows(pages, ({ thread_id }) => thread_id))
    const offset = (page - 1) * limit
    return { threads: threads.slice(offset, offset + limit), total: threads.length, limit, offset }
  },
  rows: ({ threads }) => threads,
  columns: columnsOf(thread, 'own'),
  view: (page, io) => showPage(thread, page, { io, place: 'own' }),
})

/** Conversations with an unread message from somebody else. */
async function unreadOf(host: CommandContext<unknown, unknown>, session: Session, all: readonly Thread[]) {
  const me = all.length === 0 ? '' : await ownId(session)
  const countNew = await newMessages(host, session)
  const found: Thread[] = []
  for (const one of all) {
    const count = countNew(one)
    if (count === 0) continue
    const own = one.provider_id === me ? 'provider' : 'buyer'
    if (hasNews(await readThread(host, session, one.thread_id), count, own)) found.push(one)
  }
  return found
}
