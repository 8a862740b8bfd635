import { z } from 'zod'
import { partyRoles } from './party.ts'
import { StoredFile } from './stored-file.ts'

/** Stored form of a file that a party put into a conversation (decisions §9). */
export const ThreadFileRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  thread_id: z.string(),
  /** The message that shows it. */
  message_id: z.string(),
  author_role: z.enum(partyRoles),
  file: StoredFile,
  file_sha256: z.string(),
  created_at: z.int(),
})
export type ThreadFileRow = z.infer<typeof ThreadFileRow>
