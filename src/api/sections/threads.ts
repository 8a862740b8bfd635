import { z } from 'zod'
import { Amount, idOf, namedObject, Time } from '../../core/codecs.ts'
import { MAX_MESSAGE_CHARS, MAX_PAGE } from '../../core/limits.ts'
import { authorRoles, messageTypes, partyRoles, proposalStatuses, threadStatuses } from '../../model/words.ts'
import { MAX_OFFSET, paged, pageQuery, queryInt } from '../endpoint/common.ts'
import { endpointsWith, json, jsonBody, keyOrToken } from '../endpoint/define.ts'

const endpoint = endpointsWith({ section: 'Threads (negotiation and delivery)' })

/** A message (decisions §9). */
export const Message = namedObject('Message', {
  id: idOf('message'),
  message_id: idOf('message'),
  thread_id: idOf('thread'),
  author_role: z.enum(authorRoles),
  type: z.enum(messageTypes),
  body: z.string(),
  file_id: idOf('file').optional(),
  created_at: Time,
})

export const NewMessage = z.strictObject({
  message: z.string().max(MAX_MESSAGE_CHARS).regex(/\S/, 'must not be empty'),
})

/** The newest messages, oldest first; `offset` skips the newest. */
export const messageQuery = z.strictObject({
  limit: queryInt({ min: 1, max: MAX_PAGE }).optional(),
  offset: queryInt({ min: 0, max: MAX_OFFSET }).optional().meta({ description: 'number of newest messages to skip' }),
})

const Proposal = z.strictObject({
  price: Amount,
  agent_price: Amount,
  provider_net_price: Amount,
  message: z.string(),
  estimated_delivery: z.string().optional(),
  status: z.enum(proposalStatuses),
  proposed_at: Time.meta({ description: 'identifies this proposal in the thread' }),
  expires_at: Time,
})

/** A conversation for its parties; lists omit `messages`. */
export const Thread = namedObject('Thread', {
  id: idOf('thread'),
  thread_id: idOf('thread'),
  service_id: idOf('service'),
  agent_id: idOf('participant').nullable(),
  provider_id: idOf('participant'),
  status: z.enum(threadStatuses),
  proposal: Proposal.nullable(),
  job_id: idOf('job').nullable(),
  message_count: z.int(),
  messages: z.array(Message).optional(),
  created_at: Time,
  updated_at: Time,
})

export const threadsApi = {
  listThreads: endpoint({
    path: '/v1/threads',
    query: z.strictObject({
      status: z.enum(threadStatuses).optional(),
      role: z.enum(partyRoles).optional(),
      ...pageQuery,
    }),
    reply: json({ threads: z.array(Thread), ...paged }),
    summary: 'list own threads',
  }),

  getThread: endpoint({
    path: '/v1/threads/:id',
    access: keyOrToken,
    query: messageQuery,
    reply: json(Thread),
    summary: 'thread details and messages',
  }),

  postThreadMessage: endpoint({
    path: '/v1/threads/:id/messages',
    body: jsonBody(NewMessage),
    reply: json(Message),
    errors: ['not_found', 'conflict'],
    summary: 'send a message',
  }),
}
