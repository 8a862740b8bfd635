import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { participantFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'

export const PEOPLE_PAGE = 50

type Answered = WireAnswer<Api['listParticipants']>['participants'][number]

/** Somebody who buys or sells. */
export type PersonFacts = {
  readonly id: string
  readonly name: string
  readonly wallet: string
  readonly type: Answered['type']
  readonly tier: Answered['verification_tier']
  /** Like `$12.60`. */
  readonly available: string
  readonly held: string
  readonly suspendedAt: number | undefined
  readonly referredBy: string
  readonly createdAt: number | undefined
  readonly raw: unknown
}

export type People = { readonly people: readonly PersonFacts[]; readonly total: number }

/** One page of everybody who is looked for, the newest first unless sorted. */
export const fetchPeople =
  (link: Link, { page, asked }: ListPage<typeof participantFields>) =>
  (signal: AbortSignal) => {
    const query = { ...pageOf(page, PEOPLE_PAGE), ...asked }
    return ask(
      link,
      { name: 'listParticipants', asked: { query, signal } },
      ({ participants, total }): People => ({ people: participants.map(readPerson), total }),
    )
  }

function readPerson(one: Answered): PersonFacts {
  return {
    id: one.id,
    name: text(one.name),
    wallet: text(one.wallet),
    type: one.type,
    tier: one.verification_tier,
    available: `$${one.balance.available}`,
    held: `$${one.balance.held}`,
    suspendedAt: time(one.suspended_at),
    referredBy: text(one.referred_by),
    createdAt: time(one.created_at),
    raw: one,
  }
}
