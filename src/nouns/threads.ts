import type { WireAnswer } from '../api/index.ts'
import { threadWords } from '../model/state-words.ts'
import {
  accent,
  age,
  bad,
  count,
  dim,
  good,
  id,
  money,
  type Noun,
  name,
  state,
  statesOf,
  time,
  warn,
  word,
} from './noun.ts'
import { partyOf } from './people.ts'

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
    id('THREAD', ({ thread_id }) => thread_id),
    state('STATUS', ({ status }) => status),
    word('PROVIDER', ({ provider_id }) => provider_id, { on: ['all'] }),
    word('BUYER', ({ agent_id }) => agent_id, { drop: 3, on: ['all'] }),
    name('BUYER → PROVIDER', (one) => `${buyerOf(one)} → ${providerOf(one)}`, { min: 24, on: ['screen'] }),
    word('SERVICE', serviceOf, { min: 10, drop: 2, on: ['screen'] }),
    money('PRICE', priceOf),
    count('MESSAGES', ({ message_count }) => message_count, { drop: 3, on: ['own', 'all'] }),
    word('JOB', ({ job_id }) => job_id, { drop: 2, on: ['own'] }),
    time('CHANGED', ({ updated_at }) => updated_at, { drop: 1, on: ['own', 'all'] }),
    age(({ updated_at }) => updated_at),
  ],
}
