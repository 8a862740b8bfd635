import type { threadFilesApi } from '../../../src/api/sections/thread-files.ts'
import type { StoredFile } from '../../../src/core/codecs.ts'
import { existing, notFound } from '../../../src/core/error.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import type { Call, FreeHandlers, TokenBearer } from '../../endpoint/handler.ts'
import { audit } from '../../events/event-log.ts'
import { notYours } from '../../kernel/parties.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { ReadTx } from '../../store/port.ts'
import { threadSideOf } from '../jobs/routes.ts'
import { attachmentView, fileOfThread, refuseMoreFiles } from '../threads/files.ts'
import { addMessage, refuseClosed } from '../threads/messages.ts'
import { type ThreadRow, threadFiles, threads } from '../threads/rows.ts'

export const threadFileRoutes: FreeHandlers<typeof threadFilesApi> = {
  uploadThreadFile: {
    async check({ params }, { ctx, caller, now }) {
      await ctx.store.read(async (t) => attachable(t, await t.table(threads).get(params.id), { caller, now }))
    },

    async run({ params, body, file }, { ctx, caller, now }) {
      const row = await commit(ctx, async (t, draw) => {
        const { thread, side } = await attachable(t, await t.table(threads).getForUpdate(params.id), { caller, now })
        const id = draw.id('file')
        const said = { author_role: side, type: 'file' as const, body: body.message ?? file.name, fileId: id, now }
        const { message } = await addMessage(t, draw, { thread, message: said })
        return t.table(threadFiles).insert({
          id,
          thread_id: thread.id,
          message_id: message.id,
          author_role: side,
          file,
          file_sha256: file.sha256,
          created_at: now,
        })
      })
      return attachmentView(row, ctx.baseUrl())
    },
  },

  downloadThreadFile: async ({ params }, call) => {
    const { ctx, caller, now } = call
    if (caller === 'admin') return readByOperator(params, call)
    return ctx.store.read(async (t) => {
      const { thread } = await ofParty(t, await t.table(threads).get(params.id), { caller, now })
      return fileIn(t, thread, params.fileId)
    })
  },
}

type Asker = { readonly caller: ParticipantRow | TokenBearer; readonly now: number }
type Attachable = { readonly thread: ThreadRow; readonly side: PartyRole }

/** @throws AppError as `ofParty` does, and 409 when the conversation is cancelled or full */
async function attachable(t: ReadTx, thread: ThreadRow | undefined, asker: Asker): Promise<Attachable> {
  const found = await ofParty(t, thread, asker)
  refuseClosed(found.thread)
  await refuseMoreFiles(t, found.thread.id)
  return found
}

/** @throws AppError 404 if the thread is missing, 403 if the caller is not a party, 401 for the token of another job */
async function ofParty(t: ReadTx, thread: ThreadRow | undefined, asker: Asker): Promise<Attachable> {
  if (!thread) throw notFound('The thread')
  const side = await threadSideOf(t, thread, asker)
  if (!side) throw notYours('The thread')
  return { thread, side }
}

/** Logs an operator's access to a file before sending it. */
function readByOperator(
  { id, fileId }: { readonly id: string; readonly fileId: string },
  call: Pick<Call, 'ctx' | 'requestId' | 'now' | 'wall'>,
): Promise<StoredFile> {
  return commit(call.ctx, async (t, draw) => {
    const thread = existing(await t.table(threads).get(id), 'The thread')
    const file = await fileIn(t, thread, fileId)
    const detail = { thread_id: id, job_id: thread.job_id, sha256: file.sha256 }
    await audit(t, draw, { act: 'file.read', subject: { kind: 'file', id: fileId }, changed: false, detail, by: call })
    return file
  })
}

async function fileIn(t: ReadTx, thread: ThreadRow, fileId: string): Promise<StoredFile> {
  const row = existing(await fileOfThread(t, thread.id, fileId), 'The file')
  return row.file
}
