import type { SQLInputValue } from 'node:sqlite'
import type { FulfillmentType, ServiceType } from '../../../../src/model/service.ts'
import {
  type Condition,
  countOf,
  idsOf,
  type Matches,
  type Prepared,
  where,
} from '../../../store/fulltext/statements.ts'
import { allOf, searchTerms } from '../../../store/fulltext/terms.ts'

/**
 * Maximum matches ranked, because bm25 takes about a microsecond for each. If there are more, matches in name and tags
 * come first, then all others. In each of these two groups, only the latest added matches are ranked.
 */
export const MAX_RANKED = 3_000
const MAX_INTEGER = 2n ** 63n - 1n

/** bm25 weights of name, tags, category, provider and description, in this order. */
const RANK = 'bm25(words, 10, 6, 4, 2, 1)'
const BEST_COLUMNS = '{name tags}'

/** Each sort order is total, so that paging neither repeats nor skips rows. Missing values come last. */
const ORDERS: Record<Exclude<CatalogSort, 'relevance'>, string> = {
  price_asc: 'd.price_last, d.id',
  price_desc: 'd.price desc, d.id',
  reputation: 'd.reputation desc, d.id',
  newest: 'd.listed_at desc, d.id',
}

type Span = { readonly offset: number; readonly limit: number }

/** One page of ids with the exact number of matches (decisions §7). */
export function select(prepared: Prepared, query: CatalogQuery): CatalogPage {
  const filters = conditionsOf(query)
  const terms = query.q?.trim() ? searchTerms(query.q) : undefined
  // A query that only has punctuation matches nothing.
  if (terms?.length === 0) return { ids: [], total: 0 }
  const match = terms && allOf(terms)
  const total = countOf(prepared, match === undefined ? where('doc d', filters) : matches(match, filters))
  if (query.offset >= total) return { ids: [], total }
  if (query.sort === 'relevance' && match !== undefined)
    return { ids: ranked(prepared, { match, filters, total }, query), total }
  const order = ORDERS[query.sort === 'relevance' ? 'newest' : query.sort]
  const rows = match === undefined ? where('doc d', filters) : where(MATCHING, [matching(match), ...filters])
  return { ids: pageOf(prepared, { ...rows, order }, query), total }
}

function conditionsOf(query: CatalogQuery): Condition[] {
  const { min_price, max_price, min_reputation } = query
  const exact: [string, SQLInputValue | undefined][] = [
    ['d.category = ?', query.category],
    ['d.provider = ?', query.provider],
    ['d.service_type = ?', query.service_type],
    ['d.fulfillment_type = ?', query.fulfillment_type],
    ['d.verified = ?', query.verified_only ? 1 : undefined],
    ['d.payable = ?', query.payable_only ? 1 : undefined],
    ['d.n in (select n from tag where tag = ?)', query.tag],
  ]
  const price: [string, SQLInputValue | undefined][] = [
    ['d.price >= ?', clamped(min_price)],
    ['d.price <= ?', clamped(max_price)],
  ]
  const reputation: [string, SQLInputValue | undefined][] = [
    ['d.reputation >= ?', min_reputation === undefined ? undefined : Math.max(min_reputation, 0)],
  ]
  const filtered = [...exact.map((one) => [one]), price, reputation].map(given).filter((column) => column.length > 0)
  // Use a range's index only if there is no other filter, because a wide range would cause many random lookups.
  const isAlone = filtered.length === 1
  return filtered
    .flat()
    .map(([sql, ...values]) => [isAlone ? sql : sql.replace(/^d\.(?=price|reputation)/, '+$&'), ...values])
}

function given(conditions: readonly (readonly [string, SQLInputValue | undefined])[]): Condition[] {
  return conditions.flatMap(([sql, value]) => (value === undefined ? [] : [[sql, value] as const]))
}

function clamped(price: bigint | undefined): bigint | undefined {
  return price !== undefined && price > MAX_INTEGER ? MAX_INTEGER : price
}

/** Read `words` first, because a listing is found quickly from its row of `words`, but not the other way round. */
const MATCHING = 'words cross join doc d on d.n = words.rowid'

const matching = (match: string): Condition => ['words match ?', match]

function matches(match: string, filters: readonly Condition[]): Matches {
  return where(filters.length === 0 ? 'words' : MATCHING, [matching(match), ...filters])
}

function pageOf(
  prepared: Prepared,
  { from, values, order }: Matches & { order: string },
  { limit, offset }: Span,
): string[] {
  return idsOf(prepared, `select d.id from ${from} order by ${order} limit ? offset ?`, [...values, limit, offset])
}

type Ranking = { readonly match: string; readonly filters: readonly Condition[]; readonly total: number }

/** The matches, sorted by relevance. If there are many, matches in name and tags come first (see `MAX_RANKED`). */
function ranked(prepared: Prepared, { match, filters, total }: Ranking, span: Span): string[] {
  const best = `${BEST_COLUMNS} : (${match})`
  const bestTotal = total > MAX_RANKED ? countOf(prepared, matches(best, filters)) : 0
  const kinds =
    total > MAX_RANKED
      ? [
          { match: best, filters, total: bestTotal },
          { match: `(${match}) NOT (${best})`, filters, total: total - bestTotal },
        ]
      : [{ match, filters, total }]
  return kinds.flatMap((kind, nth) => {
    const before = nth === 0 ? 0 : bestTotal
    const offset = Math.max(span.offset - before, 0)
    return ofKind(prepared, kind, { offset, limit: Math.min(span.offset - before + span.limit, kind.total) - offset })
  })
}

function ofKind(prepared: Prepared, { match, filters }: Ranking, { offset, limit }: Span): string[] {
  const rows = matches(match, filters)
  const inRank = Math.min(limit, MAX_RANKED - offset)
  const tail = { ...where(MATCHING, [matching(match), ...filters]), order: 'words.rowid desc' }
  return [
    ...(inRank > 0 ? bestOf(prepared, rows, { offset, limit: inRank }) : []),
    ...(inRank < limit
      ? pageOf(prepared, tail, { offset: Math.max(offset, MAX_RANKED), limit: limit - Math.max(inRank, 0) })
      : []),
  ]
}

/** Ranks the newest matches and returns one page of them, best first. Reads only listings that the page may show. */
function bestOf(prepared: Prepared, { from, values }: Matches, { offset, limit }: Span): string[] {
  const latest = `select words.rowid as n, ${RANK} as score from ${from} order by words.rowid desc limit ${MAX_RANKED}`
  const worst = 'select max(score) from (select score from ranked order by score limit ?)'
  const shown = `ranked cross join doc d on d.n = ranked.n where ranked.score <= (${worst})`
  const page = `with ranked as materialized (${latest}) select d.id from ${shown} order by ranked.score, ${ORDERS.newest} limit ? offset ?`
  return idsOf(prepared, page, [...values, offset + limit, limit, offset])
}

/** Catalog data of one active listing, including facts of its provider. Write it again when any of its data changes. */
export type CatalogDoc = {
  readonly id: string
  readonly name: string
  readonly tags: readonly string[]
  readonly category: string
  readonly description: string
  readonly provider_id: string
  readonly provider_name: string
  readonly service_type: ServiceType
  readonly fulfillment_type: FulfillmentType
  /** Micro-USDC; null (quote required) is excluded by price filters and sorts last. */
  readonly agent_price: bigint | null
  readonly verified: boolean
  /** Whether paying the price buys the listing. A quote-required listing may show a price, but is not payable. */
  readonly payable: boolean
  /** 0 to 100; null is excluded by `min_reputation` and sorts last. */
  readonly reputation: number | null
  readonly listed_at: number
}

type CatalogSort = 'relevance' | 'price_asc' | 'price_desc' | 'reputation' | 'newest'

/** Filters of the catalog (decisions §7). Strings match exactly, bounds are inclusive. */
export type CatalogQuery = {
  /** Search text: all terms must occur; the last may be a prefix. */
  readonly q?: string
  readonly category?: string
  readonly service_type?: ServiceType
  readonly fulfillment_type?: FulfillmentType
  readonly provider?: string
  readonly verified_only?: boolean
  readonly payable_only?: boolean
  readonly min_price?: bigint
  readonly max_price?: bigint
  readonly min_reputation?: number
  readonly tag?: string
  /** `relevance` without `q` sorts like `newest`. */
  readonly sort: CatalogSort
  readonly limit: number
  readonly offset: number
}

export type CatalogPage = { readonly ids: string[]; readonly total: number }
