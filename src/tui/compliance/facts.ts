import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { verificationFields } from '../../api/endpoint/list-fields.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { byNeed } from '../../nouns/verifications.ts'
import { type ListPage, pageOf } from '../shell/finding.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'

export const ATTEMPTS_PAGE = 50

/** A page of identity checks. By default, waiting ones come first. */
export const fetchAttempts =
  (link: Link, { page, asked }: ListPage<typeof verificationFields>) =>
  (signal: AbortSignal) =>
    ask(
      link,
      { name: 'listVerifications', asked: { query: { ...pageOf(page, ATTEMPTS_PAGE), ...asked }, signal } },
      ({ attempts, total }) => ({ attempts: asked.sort === undefined ? attempts.toSorted(byNeed) : attempts, total }),
    )

export const fetchSanctions = (link: Link) => (signal: AbortSignal) =>
  ask(link, { name: 'listSanctions', asked: { query: { limit: '1' }, signal } }, readSanctions)

export type SanctionFacts = ReturnType<typeof readSanctions>

function readSanctions({ sdn }: WireAnswer<Api['listSanctions']>) {
  return {
    checkedAt: time(sdn.last_checked),
    published: text(sdn.ofac_publish_date),
    total: sdn.total,
    byHand: sdn.manual_only,
    status: text(sdn.last_status),
    stale: sdn.stale,
  }
}
