import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import { id, state, time, word } from './columns.ts'
import type { Noun } from './noun.ts'

/** What somebody does to have their identity verified. */
export type VerificationAttempt = WireAnswer<Api['listVerifications']>['attempts'][number]

export const verification: Noun<VerificationAttempt> = {
  name: 'attempt',
  plural: 'attempts',
  list: 'listVerifications',
  none: 'no such attempt',
  idOf: ({ attempt_id }) => attempt_id,
  nameOf: ({ name, participant_id }) => name || participant_id,
  columns: [
    id('ATTEMPT', ({ attempt_id }) => attempt_id),
    word('WHO', ({ participant_id }) => participant_id),
    state('STATUS', ({ status }) => status),
    time('SINCE', ({ created_at }) => created_at, { drop: 1 }),
  ],
  nextOf: ({ attempt_id, status }) =>
    status === 'vendor_pending' ? `souk verify approve ${attempt_id} --reason "..."` : undefined,
}
