import type { WireAnswer } from '../api/index.ts'
import { threadWords } from '../model/state-words.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { partyOf } from './people.ts'
import { accent, bad, dim, good, statesOf, warn } from './tones.ts'

/** A conversation. Only the operator's list has the parties' names and the subject. */
export type Thread = WireAnswer<'getThread'> & Partial<Pick<WireAnswer<'readAnyThread'>, 'about'>>

export const threadStates = statesOf(threadWords, {
  inquiry: accent('●'),
  negotiating: warn('?'),
  accepted: good('✓'),
  in_progress: accent('●'),
  completed: warn('?'),
  verified: good('✓'),
  disputed: bad('?'),
  cancelled: dim('×'),
})

/** The names of buyer and provider, or their ids. */
export const buyerOf = ({ about, agent_id }: Thread) => partyOf(about?.buyer, agent_id)
export const providerOf = ({ about, provider_id }: Thread) => partyOf(about?.provider, provider_id)
export const serviceOf = ({ about, service_id }: Thread) => about?.service || service_id
/** What the buyer pays, like `$8.40`; nothing without an offer. */
export const priceOf = ({ proposal }: Thread) => proposal && `$${proposal.agent_price}`

export const thread: Noun<Thread> = {
  name: 'conversation',
  plural: 'conversations',
  list: 'listAllThreads',
  none: 'no such conversation',
  source: ['a buyer asks a seller', 'souk services inquire SERVICE'],
  idOf: ({ thread_id }) => thread_id,
  nameOf: ({ service_id }) => service_id,
  stateOf: ({ status }) => threadStates[status],
  columns: [
    column.id('THREAD', ({ thread_id }) => thread_id),
    column.state('STATUS', ({ status }) => status),
    column.word('PROVIDER', ({ provider_id }) => provider_id, { on: ['all'] }),
    column.word('BUYER', ({ agent_id }) => agent_id, { drop: 3, on: ['all'] }),
    column.name('BUYER → PROVIDER', (one) => `${buyerOf(one)} → ${providerOf(one)}`, { min: 24, on: ['screen'] }),
    column.word('SERVICE', serviceOf, { min: 10, drop: 2, on: ['screen'] }),
    column.money('PRICE', priceOf),
    column.count('MESSAGES', ({ message_count }) => message_count, { drop: 3, on: ['own', 'all'] }),
    column.word('JOB', ({ job_id }) => job_id, { drop: 2, on: ['own'] }),
    column.time('CHANGED', ({ updated_at }) => updated_at, { drop: 1, on: ['own', 'all'] }),
    column.age(({ updated_at }) => updated_at),
  ],
}
