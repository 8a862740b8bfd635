import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { accent, bad, dim, good, id, money, name, state, type Toned, time, word } from './columns.ts'
import type { Noun } from './noun.ts'

export type Job = WireAnswer<Api['getJob']>

export const jobStates: Readonly<Record<Job['status'], Toned>> = {
  created: dim('○ new'),
  dispatched: accent('● sent'),
  in_progress: accent('● at work'),
  completed: good('✓ delivered'),
  verified: good('✓ verified'),
  released: good('✓ paid'),
  failed: bad('✗ failed'),
  expired: dim('× expired'),
  cancelled: dim('× cancelled'),
  disputed: bad('? disputed'),
  refunded: dim('↩ refunded'),
}

export const job: Noun<Job> = {
  name: 'job',
  plural: 'jobs',
  list: 'listAllJobs',
  none: 'no such job',
  idOf: ({ job_id }) => job_id,
  nameOf: ({ service_name, service_id }) => service_name ?? service_id,
  stateOf: ({ status }) => jobStates[status],
  columns: [
    id('JOB', ({ job_id }) => job_id),
    name('SERVICE', ({ service_name, service_id }) => service_name ?? service_id),
    state('STATUS', ({ status }) => status),
    money('AMOUNT', ({ amount }) => (amount === undefined ? null : `$${amount}`)),
    time('CREATED', ({ created_at }) => created_at, { drop: 1, on: ['own'] }),
    word('ESCROW', ({ escrow }) => escrow?.status, { drop: 2, on: ['all'] }),
    word('NEXT', ({ escrow }) => escrow?.next_event, { drop: 1, on: ['all'] }),
  ],
}
