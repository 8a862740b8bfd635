import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { verificationFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'

export const ATTEMPTS_PAGE = 50

type Attempt = WireAnswer<Api['listVerifications']>['attempts'][number]

/** An attempt to show who stands behind a participant. Times are business time. */
export type AttemptFacts = {
  readonly id: string
  readonly status: Attempt['status']
  readonly participant: string
  /** Empty where the instance does not tell it. */
  readonly name: string
  readonly tier: Attempt['verification_tier'] | undefined
  readonly operator: string
  readonly reason: string
  readonly createdAt: number | undefined
  readonly expiresAt: number | undefined
}

export type Attempts = { readonly attempts: readonly AttemptFacts[]; readonly total: number }

/** Those that wait for somebody first. */
const order: readonly Attempt['status'][] = ['vendor_pending', 'pending_consent', 'approved', 'rejected', 'expired']

export const fetchAttempts =
  (link: Link, { page, asked }: ListPage<typeof verificationFields>) =>
  (signal: AbortSignal) =>
    ask(
      link,
      { name: 'listVerifications', asked: { query: { ...pageOf(page, ATTEMPTS_PAGE), ...asked }, signal } },
      ({ attempts, total }): Attempts => {
        const rows = attempts.map(readAttempt)
        const byNeed = () => rows.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
        return { attempts: asked.sort === undefined ? byNeed() : rows, total }
      },
    )

function readAttempt(one: Attempt): AttemptFacts {
  return {
    id: one.id,
    status: one.status,
    participant: one.participant_id,
    name: text(one.name),
    tier: one.verification_tier,
    operator: text(one.operator_name),
    reason: text(one.reason),
    createdAt: time(one.created_at),
    expiresAt: time(one.expires_at),
  }
}

export type SanctionFacts = {
  readonly checkedAt: number | undefined
  readonly published: string
  readonly source: string
  readonly total: number
  readonly byHand: number
  readonly status: string
  readonly stale: boolean
}

export const fetchSanctions = (link: Link) => (signal: AbortSignal) =>
  ask(
    link,
    { name: 'listSanctions', asked: { query: { limit: '1' }, signal } },
    ({ sdn }): SanctionFacts => ({
      checkedAt: time(sdn.last_checked),
      published: text(sdn.ofac_publish_date),
      source: text(sdn.source),
      total: sdn.total,
      byHand: sdn.manual_only,
      status: text(sdn.last_status),
      stale: sdn.stale,
    }),
  )
