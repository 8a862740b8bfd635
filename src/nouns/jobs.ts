import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { accent, bad, dim, good, id, money, name, state, type Toned, time, warn, word } from './columns.ts'
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

type Standing = { readonly status: Job['status']; readonly late: boolean; readonly isUnverified: boolean }

/** What waits for its buyer asks for somebody; what is late warns. */
export function jobStateOf({ status, late, isUnverified }: Standing): Toned {
  if (status === 'completed' && isUnverified) return warn('? delivered')
  return late && (status === 'dispatched' || status === 'in_progress') ? warn('! overdue') : jobStates[status]
}

/** What becomes of money in escrow by itself, by the event that comes next. */
export const movesBy: Readonly<Record<string, string>> = {
  expire: 'goes back',
  verify: 'pays out',
  release: 'pays out',
  resolve: 'is decided',
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
