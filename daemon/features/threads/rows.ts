import { z } from 'zod'
import { StoredFile, StoredWallet } from '../../../src/core/codecs.ts'
import { Proposal } from '../../../src/model/thread.ts'
import { authorRoles, messageTypes, partyRoles, threadStatuses } from '../../../src/model/words.ts'
import { insertParties, moveParties } from '../../kernel/parties.ts'
import { partiesOf } from '../../kernel/rows.ts'
import { type AnyCollection, type Draft, defineCollection, stored, type Tx } from '../../store/port.ts'

/** A stored conversation. Every job has one (decisions §9). */
export const threads = defineCollection('threads', {
  schema: z.strictObject({
    ...stored,
    service_id: z.string(),
    buyer_wallet: StoredWallet,
    agent_id: z.string().nullable(),
    provider_id: z.string(),
    job_id: z.string().nullable(),
    status: z.enum(threadStatuses),
    proposal: Proposal.nullable(),
    /** The replaced proposal, and until when (wall time) it can be accepted. */
    previous: z.strictObject({ version: Proposal, until: z.int() }).exactOptional(),
    message_count: z.int(),
    created_at: z.int(),
    updated_at: z.int(),
  }),
  indexes: [
    { name: 'buyer', fields: ['buyer_wallet', 'updated_at'], order: 'desc' },
    { name: 'provider', fields: ['provider_id', 'updated_at'], order: 'desc' },
    { name: 'newest', fields: ['updated_at'], order: 'desc' },
    { name: 'status', fields: ['status', 'updated_at'], order: 'desc' },
    {
      name: 'service_negotiating',
      fields: ['service_id', 'updated_at'],
      order: 'desc',
      where: { field: 'status', equals: 'negotiating' },
    },
  ],
})
export type ThreadRow = z.infer<typeof threads.schema>

export const threadParties = partiesOf('thread_parties')

/** A stored message (decisions §9). Its text is stored as sent. */
export const messages = defineCollection('messages', {
  schema: z.strictObject({
    ...stored,
    thread_id: z.string(),
    /** Number of the message in its conversation, from 1 without gaps. */
    number: z.int(),
    author_role: z.enum(authorRoles),
    type: z.enum(messageTypes),
    body: z.string(),
    file_id: z.string().nullable(),
    created_at: z.int(),
  }),
  indexes: [{ name: 'thread', fields: ['thread_id', 'number'], unique: true, order: 'desc' }],
})
export type MessageRow = z.infer<typeof messages.schema>

/** A stored file of a conversation (decisions §9). */
export const threadFiles = defineCollection('thread_files', {
  schema: z.strictObject({
    ...stored,
    thread_id: z.string(),
    /** Id of the message that shows the file. */
    message_id: z.string(),
    author_role: z.enum(partyRoles),
    file: StoredFile,
    file_sha256: z.string(),
    created_at: z.int(),
  }),
  indexes: [
    { name: 'thread', fields: ['thread_id', 'created_at'] },
    { name: 'file', fields: ['file_sha256'] },
  ],
})
export type ThreadFileRow = z.infer<typeof threadFiles.schema>

export async function insertThread(t: Tx, draft: Draft<ThreadRow>): Promise<ThreadRow> {
  const thread = await t.table(threads).insert(draft)
  await insertParties(t, threadParties, { subject: thread, at: thread.updated_at })
  return thread
}

/** Replaces a thread that this transaction has locked, and moves it to the top of its parties' lists. */
export async function putThread(t: Tx, draft: Draft<ThreadRow>): Promise<ThreadRow> {
  const thread = await t.table(threads).put(draft)
  await moveParties(t, threadParties, { subject: thread, at: thread.updated_at })
  return thread
}

export const threadCollections: readonly AnyCollection[] = [threads, threadParties, messages, threadFiles]
