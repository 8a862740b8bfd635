import type { WireAnswer } from '../api/index.ts'
import { jobWords, LATE_WORD, workingJobStatuses } from '../model/job.ts'
import { clip, shortSpan } from '../text/text.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { partyOf } from './people.ts'
import { accent, bad, dim, good, statesOf, type Toned, warn } from './tones.ts'

type Listed = WireAnswer<'listAllJobs'>['jobs'][number]

/** A job. Only the operator's list has `about` (the parties' names) and `late`. */
export type Job = WireAnswer<'getJob'> & Partial<Pick<Listed, 'about' | 'late'>>

export const jobStates = statesOf(jobWords, {
  created: dim('○'),
  dispatched: accent('●'),
  in_progress: accent('●'),
  completed: good('✓'),
  verified: good('✓'),
  released: good('✓'),
  failed: bad('✗'),
  expired: dim('×'),
  cancelled: dim('×'),
  disputed: bad('?'),
  refunded: dim('↩'),
})

type Standing = Pick<Job, 'status' | 'late' | 'deadline_at'> & { readonly escrow?: Job['escrow'] }

/** A job's state. Overdue jobs, and delivered jobs that the buyer must verify, are highlighted. */
export function jobStateOf({ status, late, deadline_at: deadline, escrow }: Standing, now?: number): Toned {
  if (status === 'completed' && escrow?.next_event === 'verify') return warn('? delivered')
  return isOverdue({ status, late, deadline_at: deadline }, now) ? warn(`! ${LATE_WORD}`) : jobStates[status]
}

/** Whether a job is late. The instance's `late` decides, or the deadline if `late` is missing. */
export function isOverdue({ status, late, deadline_at: deadline }: Omit<Standing, 'escrow'>, now?: number): boolean {
  return workingJobStatuses.some((working) => working === status) && (late ?? isPast(deadline, now))
}

const isPast = (at: string | null | undefined, now?: number) =>
  Boolean(at) && now !== undefined && Date.parse(at ?? '') < now

export const buyerOf = ({ about, buyer }: Job) => partyOf(about?.buyer, buyer?.wallet)
export const providerOf = ({ about, provider_id }: Job) => partyOf(about?.provider, provider_id)
export const serviceOf = ({ service_name, service_id }: Job) => service_name || service_id

/** Time until an automatic event moves the money, `-2h` if overdue. Undefined if no event moves it. */
export function leftOf({ escrow }: Job, now: number | undefined): string | undefined {
  const at = escrow?.next_event_at
  if (movesBy[escrow?.next_event ?? ''] === undefined || !at || now === undefined) return undefined
  const left = Date.parse(at) - now
  return left < 0 ? `-${shortSpan(-left)}` : shortSpan(left)
}

/** Longer names are cut to this width. */
const NAME_COLUMNS_MAX = 16

/** What each automatic event does with the escrow money. */
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
  source: ['a buyer buys a service', 'souk buy SERVICE'],
  idOf: ({ job_id }) => job_id,
  nameOf: serviceOf,
  stateOf: jobStateOf,
  columns: [
    column.id('JOB', ({ job_id }) => job_id),
    column.name('SERVICE', serviceOf, { min: 10 }),
    column.state('STATUS', ({ status }) => status),
    column.word('BUYER', (one) => clip(buyerOf(one), NAME_COLUMNS_MAX), { min: 6, drop: 2, on: ['screen'] }),
    column.word('→ PROVIDER', (one) => `→ ${clip(providerOf(one), NAME_COLUMNS_MAX)}`, { drop: 3, on: ['screen'] }),
    column.money('AMOUNT', ({ amount }) => (amount === undefined ? null : `$${amount}`)),
    column.time('CREATED', ({ created_at }) => created_at, { drop: 1, on: ['own'] }),
    column.word('ESCROW', ({ escrow }) => escrow?.status, { drop: 2, on: ['all'] }),
    column.word('NEXT', ({ escrow }) => escrow?.next_event, { drop: 1, on: ['all'] }),
    column.age(({ created_at }) => created_at),
    { title: 'LEFT', kind: 'age', value: leftOf, on: ['screen'] },
  ],
}
