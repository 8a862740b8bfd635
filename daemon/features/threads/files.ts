import type { z } from 'zod'
import { Attachment } from '../../../src/api/sections/thread-files.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { pick } from '../../../src/core/record.ts'
import type { ReadTx } from '../../store/port.ts'
import { type ThreadFileRow, threadFiles } from './rows.ts'

/** Files per conversation. */
const MAX_FILES = 20

export function attachmentView(row: ThreadFileRow, baseUrl: string): z.output<typeof Attachment> {
  return {
    ...pick(row, Attachment.shape),
    file_id: row.id,
    ...row.file,
    download_url: `${baseUrl}/v1/threads/${row.thread_id}/files/${row.id}`,
  }
}

/** @throws AppError `conflict` when the conversation has the maximum number of files */
export async function refuseMoreFiles(t: ReadTx, threadId: string): Promise<void> {
  if ((await t.table(threadFiles).count('thread', [threadId])) >= MAX_FILES) {
    throw new AppError('conflict', `A conversation can have at most ${MAX_FILES} files.`)
  }
}

export async function fileOfThread(t: ReadTx, threadId: string, fileId: string): Promise<ThreadFileRow | undefined> {
  const row = await t.table(threadFiles).get(fileId)
  return row?.thread_id === threadId ? row : undefined
}

/** Refuses evidence that is no file of the same conversation (decisions §8). @throws AppError 400 */
export async function refuseForeignEvidence(
  t: ReadTx,
  threadId: string,
  evidence: readonly string[] = [],
): Promise<void> {
  for (const [at, fileId] of evidence.entries()) {
    if (!(await fileOfThread(t, threadId, fileId))) {
      throw invalidField(`evidence.${at}`, 'must be a file in the conversation of this job')
    }
  }
}
