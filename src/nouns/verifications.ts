import type { WireAnswer } from '../api/index.ts'
import { attemptWords } from '../model/state-words.ts'
import { shortSpan } from '../text/text.ts'
import * as column from './columns.ts'
import type { Noun } from './noun.ts'
import { bad, dim, good, statesOf, type Toned, warn } from './tones.ts'

export type VerificationAttempt = WireAnswer<'listVerifications'>['attempts'][number]

const states = statesOf(attemptWords, {
  vendor_pending: warn('?'),
  pending_consent: warn('?'),
  approved: good('✓'),
  rejected: bad('✗'),
  expired: dim('–'),
})

/** Waiting ones first. */
export function byNeed(one: VerificationAttempt, other: VerificationAttempt): number {
  const order = Object.keys(states)
  return order.indexOf(one.status) - order.indexOf(other.status)
}

export function isUnderWay({ status }: VerificationAttempt): boolean {
  return status === 'vendor_pending' || status === 'pending_consent'
}

const tiers = { unverified: 'none', email_verified: 'e-mail', identity_verified: 'identity' } as const

function tierOf(attempt: VerificationAttempt): Toned | undefined {
  const tier = attempt.verification_tier && tiers[attempt.verification_tier]
  return tier && (isUnderWay(attempt) ? `${tier} → ${tiers.identity_verified}` : dim(tier))
}

export const verification: Noun<VerificationAttempt> = {
  name: 'attempt',
  plural: 'attempts',
  list: 'listVerifications',
  none: 'no such attempt',
  source: ['a participant starts one', 'souk verify start'],
  idOf: ({ attempt_id }) => attempt_id,
  nameOf: ({ name: known, participant_id }) => known || participant_id,
  stateOf: ({ status }) => states[status],
  columns: [
    column.id('ATTEMPT', ({ attempt_id }) => attempt_id),
    column.word('WHO', ({ participant_id }) => participant_id, { on: ['all'] }),
    column.name('WHO', ({ name: known, participant_id }) => known || participant_id, { min: 10, on: ['screen'] }),
    column.state('STATUS', ({ status }) => status),
    column.word('TIER', tierOf, { drop: 3, on: ['screen'] }),
    column.word('OPERATOR', ({ operator_name }) => operator_name, { drop: 1, on: ['screen'] }),
    column.time('SINCE', ({ created_at }) => created_at, { drop: 1, on: ['all'] }),
    column.age(({ created_at }) => created_at, 5),
    { title: 'ENDS IN', kind: 'age', value: endsIn, on: ['screen'] },
  ],
  nextOf: ({ attempt_id, status }) =>
    status === 'vendor_pending' ? `souk verify approve ${attempt_id} --reason "..."` : undefined,
}

function endsIn(attempt: VerificationAttempt, now?: number): string | undefined {
  const left = now === undefined ? 0 : Date.parse(attempt.expires_at) - now
  return isUnderWay(attempt) && left > 0 ? shortSpan(left) : undefined
}
