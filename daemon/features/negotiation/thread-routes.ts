import type { threadsApi } from '../../../src/api/sections/threads.ts'
import { notFound } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { notYours, ownIds, sideOf } from '../../kernel/parties.ts'
import { commit } from '../../store/draw.ts'
import { threadSideOf } from '../jobs/access.ts'
import { addMessage, messageView, readMessages, refuseClosed, threadView } from '../threads/messages.ts'
import { threadParties, threads } from '../threads/rows.ts'

const listThreads: FreeHandler<typeof threadsApi.listThreads> = async ({ query }, { ctx, caller, now }) => {
  const { role, status, limit = DEFAULT_PAGE, offset = 0 } = query
  return ctx.store.read(async (t) => {
    const own = await ownIds(t, threadParties, { wallet: caller.wallet, role, status, limit, offset })
    const rows = await t.table(threads).getMany(own.ids)
    return { threads: rows.map((row) => threadView(row, now)), total: own.total, limit, offset }
  })
}

const getThread: FreeHandler<typeof threadsApi.getThread> = async ({ params, query }, { ctx, caller, now }) =>
  ctx.store.read(async (t) => {
    const thread = await t.table(threads).get(params.id)
    if (!thread) throw notFound('The thread')
    if (!(await threadSideOf(t, thread, { caller, now }))) throw notYours('The thread')
    return { ...threadView(thread, now), messages: (await readMessages(t, thread, query)).messages }
  })

const postThreadMessage: FreeHandler<typeof threadsApi.postThreadMessage> = async (
  { params, body },
  { ctx, caller, now },
) =>
  commit(ctx, async (t, draw) => {
    const thread = await t.table(threads).getForUpdate(params.id)
    if (!thread) throw notFound('The thread')
    const side = sideOf(thread, caller)
    if (!side) throw notYours('The thread')
    refuseClosed(thread)
    const said = { author_role: side, type: 'message' as const, body: body.message, now }
    return messageView((await addMessage(t, draw, { thread, message: said })).message)
  })

export const threadRoutes: FreeHandlers<typeof threadsApi> = { listThreads, getThread, postThreadMessage }
