import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link } from '../../client/link.ts'
import { ask } from '../shell/queries.ts'
import { text, time } from '../shell/read.ts'

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
