import type { PostingStatus } from '../../../src/model/words.ts'
import { type Condition, countOf, idsOf, type Prepared, where } from '../../store/fulltext/statements.ts'
import { allOf, searchTerms } from '../../store/fulltext/terms.ts'

/** List filters (decisions §9). Strings match exactly; bounds are inclusive except `after` and `created_after`. */
export type PostingQuery = {
  readonly status?: PostingStatus | undefined
  readonly category?: string | undefined
  /** Search text: all terms must occur; the last may be a prefix. */
  readonly q?: string | undefined
  /** Number of the last request seen, after which the page starts. */
  readonly after?: number | undefined
  readonly created_after?: number | undefined
  /** Range in which a request's maximum budget must lie, in micro-USDC. */
  readonly min_budget?: bigint | undefined
  readonly max_budget?: bigint | undefined
  /** Current business time, which decides whether a request for work has expired. */
  readonly now: number
  readonly limit: number
  readonly offset: number
}

export type PostingPage = { readonly ids: readonly string[]; readonly total: number }

/** Number of newest matches that are ranked by relevance, a microsecond each. Older matches follow, newest first. */
export const MAX_RANKED = 2_000
/** title, category, brief. */
const RANK = 'bm25(words, 8, 3, 1)'

/** One page of requests: sorted by relevance for a search, otherwise in order of creation. */
export function select(prepared: Prepared, query: PostingQuery): PostingPage {
  const filters = conditionsOf(query)
  const text = query.q?.trim()
  return text ? search(prepared, { text, filters, query }) : list(prepared, filters, query)
}

function list(prepared: Prepared, filters: readonly Condition[], query: PostingQuery): PostingPage {
  const { after, limit, offset } = query
  const onPage: Condition[] = after === undefined ? [...filters] : [...filters, ['d.n > ?', after]]
  const { from, values } = where('doc d', onPage)
  return {
    ids: idsOf(prepared, `select d.id from ${from} order by d.n limit ? offset ?`, [...values, limit, offset]),
    total: countOf(prepared, where('doc d', filters)),
  }
}

type Search = { readonly text: string; readonly filters: readonly Condition[]; readonly query: PostingQuery }

function search(prepared: Prepared, { text, filters, query }: Search): PostingPage {
  const terms = searchTerms(text)
  // A query that only has punctuation matches nothing.
  if (terms.length === 0) return { ids: [], total: 0 }
  const { limit, offset } = query
  const source = filters.length === 0 ? 'words' : 'words cross join doc d on d.n = words.rowid'
  const found = where(source, [['words match ?', allOf(terms)], ...filters])
  const matching = `select words.rowid as n from ${found.from} order by words.rowid desc`
  const latest = matching.replace('as n', `as n, ${RANK} as score`)
  const total = countOf(prepared, found)
  const inRank = Math.max(0, Math.min(limit, MAX_RANKED - offset))
  const behind = Math.max(offset, MAX_RANKED)
  return {
    total,
    ids: [
      ...idsOf(
        prepared,
        `select d.id from (${latest} limit ${MAX_RANKED}) b join doc d on d.n = b.n order by b.score, b.n desc limit ? offset ?`,
        [...found.values, inRank, offset],
      ),
      ...idsOf(
        prepared,
        `select d.id from (${matching} limit ? offset ?) b join doc d on d.n = b.n order by b.n desc`,
        [...found.values, limit - inRank, behind],
      ),
    ],
  }
}

function conditionsOf({ status, category, created_after, min_budget, max_budget, now }: PostingQuery): Condition[] {
  const given: (Condition | undefined)[] = [
    statusCondition(status, now),
    category === undefined ? undefined : ['d.category = ?', category],
    created_after === undefined ? undefined : ['d.created_at > ?', created_after],
    min_budget === undefined ? undefined : ['d.budget >= ?', min_budget],
    max_budget === undefined ? undefined : ['d.budget <= ?', max_budget],
  ]
  return given.filter((one) => one !== undefined)
}

/** An overdue request counts as expired, whatever status its row has. */
function statusCondition(status: PostingStatus | undefined, now: number): Condition | undefined {
  switch (status) {
    case undefined:
      return undefined
    case 'open':
      return ["d.status = 'open' and d.expires_at > ?", now]
    case 'expired':
      return ["(d.status = 'expired' or (d.status = 'open' and d.expires_at <= ?))", now]
    default:
      return ['d.status = ?', status]
  }
}
