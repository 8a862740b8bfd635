import { z } from 'zod'
import { threadStatuses } from '../../model/words.ts'
import { paged, pageQuery } from '../endpoint/common.ts'
import { adminEndpoint, json, jsonBody } from '../endpoint/define.ts'
import { threadFields } from '../endpoint/list-fields.ts'
import { listQuery, searched } from '../endpoint/list-query.ts'
import { EventAbout, partyFilter } from './admin.ts'
import { Message, messageQuery, NewMessage, Thread } from './threads.ts'

const MarketThread = Thread.extend({ about: EventAbout }).meta({ id: 'MarketThread' })

export const houseThreadsApi = {
  listAllThreads: adminEndpoint({
    path: '/dashboard/api/admin/threads',
    query: z.strictObject({
      status: z.enum(threadStatuses).optional(),
      ...partyFilter,
      ...listQuery(threadFields),
      ...pageQuery,
    }),
    reply: json({
      threads: z.array(MarketThread).meta({ description: 'most recently changed first; without their messages' }),
      ...paged,
      ...searched,
    }),
    summary: 'all threads; each read is logged',
  }),

  readAnyThread: adminEndpoint({
    path: '/dashboard/api/admin/threads/:id',
    query: messageQuery,
    reply: json(MarketThread),
    summary: 'one thread; the read is logged',
  }),

  answerForHouse: adminEndpoint({
    path: '/dashboard/api/admin/threads/:id/messages',
    body: jsonBody(NewMessage),
    reply: json(Message.meta({ description: 'sent as the first-party provider (house)' })),
    errors: ['not_found', 'conflict'],
    summary: 'answer an inquiry about a house listing',
  }),
}
