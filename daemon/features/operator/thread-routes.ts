import type { houseThreadsApi } from '../../../src/api/sections/admin-threads.ts'
import { AppError, existing } from '../../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import { compact } from '../../../src/core/record.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { audit, auditRead } from '../../events/event-log.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx } from '../../store/port.ts'
import { addMessage, messageView, readMessages, refuseClosed, threadView } from '../threads/messages.ts'
import { type ThreadRow, threads } from '../threads/rows.ts'
import { aboutThread } from './event-about.ts'
import { threadList } from './party-facts.ts'
import { partyPage } from './party-page.ts'

/* Logs an operator's access to a conversation before sending it. */

export const houseThreadRoutes: FreeHandlers<typeof houseThreadsApi> = {
  listAllThreads: async ({ query }, call) => {
    const { ctx, now } = call
    const { limit = DEFAULT_PAGE, offset = 0, filter, ...others } = query
    const asked = { ...others, filter, limit, offset, now }
    const { rows, ...found } = await partyPage(ctx.store, threadList(ctx.store), asked)
    const shown = await commit(ctx, async (t, draw) => {
      const detail = { ...compact(others), ...compact({ filter: filter?.text }), limit, offset, total: found.total }
      const subject = { kind: 'thread', id: 'list' }
      await auditRead(t, draw, { act: 'thread.list', subject, detail, by: call })
      return Promise.all(rows.map(async (row) => ({ ...threadView(row, now), about: await aboutThread(t, row.id) })))
    })
    return { threads: shown, ...found }
  },

  readAnyThread: async ({ params, query }, call) =>
    commit(call.ctx, async (t, draw) => {
      const thread = existing(await t.table(threads).get(params.id), 'The thread')
      const { messages } = await readMessages(t, thread, query)
      const detail = { job_id: thread.job_id, messages: messages.length }
      await auditRead(t, draw, { act: 'thread.read', subject: subjectOf(thread), detail, by: call })
      return { ...threadView(thread, call.now), messages, about: await aboutThread(t, thread.id) }
    }),

  /** The first-party provider has no key, so the operator writes for it, but for no other provider. */
  answerForHouse: async ({ params, body }, call) =>
    commit(call.ctx, async (t, draw) => {
      const thread = existing(await t.table(threads).getForUpdate(params.id), 'The thread')
      await refuseOthers(t, thread)
      refuseClosed(thread)
      const said = { author_role: 'provider' as const, type: 'message' as const, body: body.message, now: call.now }
      const { message } = await addMessage(t, draw, { thread, message: said })
      const detail = { message_id: message.id }
      await audit(t, draw, { act: 'thread.answer', subject: subjectOf(thread), changed: true, detail, by: call })
      return messageView(message)
    }),
}

async function refuseOthers(t: ReadTx, { provider_id }: ThreadRow): Promise<void> {
  if ((await t.table(participants).get(provider_id))?.first_party) return
  throw new AppError(
    'conflict',
    `This conversation is about a listing of ${provider_id}: only that provider can reply.`,
    { extra: { provider_id } },
  )
}

function subjectOf(thread: ThreadRow) {
  return { kind: 'thread', id: thread.id }
}
