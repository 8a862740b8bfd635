import { z } from 'zod'
import { partyRoles } from './party.ts'

export const authorRoles = [...partyRoles, 'system'] as const
export const messageTypes = ['message', 'proposal', 'status', 'file', 'delivery', 'system'] as const

/** Stored form of an entry of a conversation (decisions §9); text is kept as it was sent. */
export const MessageRow = z.strictObject({
  id: z.string(),
  version: z.int(),
  thread_id: z.string(),
  /** Place in its thread, counted from 1 without gaps. */
  number: z.int(),
  author_role: z.enum(authorRoles),
  type: z.enum(messageTypes),
  body: z.string(),
  file_id: z.string().nullable(),
  created_at: z.int(),
})
export type MessageRow = z.infer<typeof MessageRow>
