import { z } from 'zod'
import { threadStatuses } from '../../model/words.ts'
import { pageQuery } from '../endpoint/common.ts'
import { admin, defineEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { threadFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { EventAbout, partyFilter } from './admin.ts'
import { Message, messageQuery, NewMessage, Thread } from './threads.ts'

const ours = { access: admin, origin: 'ours', section: 'Administration' } as const

const MarketThread = Thread.extend({ about: EventAbout }).meta({ id: 'MarketThread' })

export const houseThreadsApi = {
  listAllThreads: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/threads',
    ...ours,
    query: z.strictObject({
      status: z.enum(threadStatuses).optional(),
      ...partyFilter,
      ...listQuery(threadFields),
      ...pageQuery,
    }),
    reply: json(
      z.strictObject({
        threads: z.array(MarketThread).meta({ description: 'most recently changed first; without their messages' }),
        total: z.int(),
        limit: z.int(),
        offset: z.int(),
        ...searched,
      }),
    ),
    errors: ['invalid_request'],
    summary: 'all threads; each read is logged',
  }),

  readAnyThread: defineEndpoint({
    method: 'GET',
    path: '/dashboard/api/admin/threads/:id',
    ...ours,
    query: messageQuery,
    reply: json(MarketThread),
    errors: ['invalid_request', 'not_found'],
    summary: 'one thread; the read is logged',
  }),

  answerForHouse: defineEndpoint({
    method: 'POST',
    path: '/dashboard/api/admin/threads/:id/messages',
    ...ours,
    body: jsonBody(NewMessage),
    reply: json(Message.meta({ description: 'sent as the first-party provider (house)' })),
    errors: ['invalid_request', 'not_found', 'conflict'],
    summary: 'answer an inquiry about a house listing',
  }),
}
