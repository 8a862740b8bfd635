import type { api } from '../../src/api/index.ts'
import { notFound } from '../../src/core/error.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { PartyRole } from '../../src/model/party.ts'
import type { ThreadRow } from '../../src/model/thread.ts'
import { addMessage, refuseClosed } from '../conversation.ts'
import type { FreeHandler, UploadHandler } from '../handler.ts'
import { notYours, sideOf } from '../job-access.ts'
import { threads } from '../store/collections.ts'
import { commit } from '../store/draw.ts'
import { threadFiles } from '../store/file-collections.ts'
import type { ReadTx } from '../store/port.ts'
import { attachmentView, fileOfThread, refuseMoreFiles } from '../thread-files.ts'

type Row = typeof api.uploadThreadFile

export const uploadThreadFile: UploadHandler<Row> = {
  async check({ params }, { world, caller }) {
    await world.store.read(async (t) => attachable(t, await t.table(threads).get(params.id), caller))
  },

  async run({ params, body, file }, { world, caller, now }) {
    const row = await commit(world, async (t, draw) => {
      const { thread, side } = await attachable(t, await t.table(threads).getForUpdate(params.id), caller)
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
    return attachmentView(row, world.baseUrl())
  },
}

type Attachable = { readonly thread: ThreadRow; readonly side: PartyRole }

/** @throws AppError 404, 403 for others than its parties, 409 when it was cancelled or is full. */
async function attachable(t: ReadTx, thread: ThreadRow | undefined, caller: ParticipantRow): Promise<Attachable> {
  const found = ofParty(thread, caller)
  refuseClosed(found.thread)
  await refuseMoreFiles(t, found.thread.id)
  return found
}

function ofParty(thread: ThreadRow | undefined, caller: ParticipantRow): Attachable {
  if (!thread) throw notFound('The thread')
  const side = sideOf(thread, caller)
  if (!side) throw notYours('The thread')
  return { thread, side }
}

export const downloadThreadFile: FreeHandler<typeof api.downloadThreadFile> = async ({ params }, { world, caller }) =>
  world.store.read(async (t) => {
    const { thread } = ofParty(await t.table(threads).get(params.id), caller)
    const row = await fileOfThread(t, thread.id, params.fileId)
    if (!row) throw notFound('The file')
    return row.file
  })
