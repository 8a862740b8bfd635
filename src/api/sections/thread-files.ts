import { z } from 'zod'
import { idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_ATTACHMENT_BYTES, MAX_MESSAGE_CHARS } from '../../core/limits.ts'
import { partyRoles } from '../../model/words.ts'
import { endpointsWith, file, json, keyOrToken, keyTokenOrAdmin, multipart } from '../endpoint/define.ts'

const endpoint = endpointsWith({ section: 'Threads (negotiation and delivery)' })

/** A file in a conversation, for its parties and the operator. */
export const Attachment = namedObject('Attachment', {
  id: idOf('file'),
  file_id: idOf('file'),
  thread_id: idOf('thread'),
  message_id: idOf('message'),
  author_role: z.enum(partyRoles),
  name: z.string(),
  size_bytes: z.int(),
  content_type: z.string(),
  sha256: z.string(),
  download_url: z.string(),
  created_at: Time,
})

export const threadFilesApi = {
  uploadThreadFile: endpoint({
    path: '/v1/threads/:id/upload',
    access: keyOrToken,
    feature: 'negotiation',
    body: multipart(
      z.strictObject({
        message: z.string().max(MAX_MESSAGE_CHARS).optional().meta({ description: 'caption (default: file name)' }),
      }),
      { maxFileBytes: MAX_ATTACHMENT_BYTES, orJson: false },
    ),
    reply: json(Attachment),
    errors: ['not_found', 'conflict', 'unavailable'],
    summary: 'upload a file attachment, `multipart/form-data`',
  }),

  downloadThreadFile: endpoint({
    path: '/v1/threads/:id/files/:fileId',
    access: keyTokenOrAdmin,
    reply: file,
    summary: 'download an attachment',
  }),
}
