import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { accent, bad, count, dim, good, id, money, state, type Toned, time, warn, word } from './columns.ts'
import type { Noun } from './noun.ts'

export type Thread = WireAnswer<Api['getThread']>

export const threadStates: Readonly<Record<Thread['status'], Toned>> = {
  inquiry: accent('● asked'),
  negotiating: warn('? offered'),
  accepted: good('✓ agreed'),
  in_progress: accent('● at work'),
  completed: warn('? delivered'),
  verified: good('✓ paid'),
  disputed: bad('? disputed'),
  cancelled: dim('× ended'),
}

export const thread: Noun<Thread> = {
  name: 'conversation',
  plural: 'conversations',
  list: 'listAllThreads',
  none: 'no such conversation',
  idOf: ({ thread_id }) => thread_id,
  nameOf: ({ service_id }) => service_id,
  stateOf: ({ status }) => threadStates[status],
  columns: [
    id('THREAD', ({ thread_id }) => thread_id),
    state('STATUS', ({ status }) => status),
    word('PROVIDER', ({ provider_id }) => provider_id, { on: ['all'] }),
    word('BUYER', ({ agent_id }) => agent_id, { drop: 3, on: ['all'] }),
    money('PRICE', ({ proposal }) => proposal && `$${proposal.agent_price}`),
    count('MESSAGES', ({ message_count }) => message_count, { drop: 3 }),
    word('JOB', ({ job_id }) => job_id, { drop: 2, on: ['own'] }),
    time('CHANGED', ({ updated_at }) => updated_at, { drop: 1 }),
  ],
}
