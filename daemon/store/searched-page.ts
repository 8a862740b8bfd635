import { setImmediate } from 'node:timers/promises'
import {
  type Facts,
  type Filter,
  inOrder,
  type ListFields,
  MAX_SEARCHED_ROWS,
  passesFilter,
} from '../../src/core/filter.ts'
import { DEFAULT_PAGE } from '../../src/core/limits.ts'
import { eachPage, type OffsetPage, type OffsetSlice, offsetPage } from './each-page.ts'
import type { Collection, Row, Store } from './port.ts'

/** Rows per read; other work runs in between. */
export const STRIDE_ROWS = 500

export type SearchAsked = {
  readonly filter?: Filter | undefined
  readonly sort?: string | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  /** Current time of the clock by which ages are measured, epoch milliseconds. */
  readonly now: number
}

type FactsOf<R, L extends ListFields> = {
  readonly fields: L
  /** @param uses whether a field is needed; costly fields may be null otherwise */
  readonly factsOf: (row: R, uses: (field: keyof L & string) => boolean) => Promise<Facts<L>> | Facts<L>
}

type Searchable<R, L extends ListFields> = FactsOf<R, L> & {
  /** Rows in default order; reading may stop before the end. */
  readonly pieces: AsyncIterable<readonly R[]>
  readonly count: number
  /** Order of the rows, if it is not the order of a field. */
  readonly compare?: ((a: R, b: R) => number) | undefined
}

export type SearchedPage<R> = OffsetPage<R> & { readonly searched?: { readonly rows: number; readonly of: number } }

export function isSearch({ filter, sort }: Pick<SearchAsked, 'filter' | 'sort'>): boolean {
  return (filter !== undefined && filter.terms.length > 0) || sort !== undefined
}

/**
 * A page of the filtered and sorted list, up to the scan limit. Reads rows outside transactions, so writers do not
 * wait.
 */
export async function searchedPage<R, L extends ListFields>(
  list: Searchable<R, L>,
  { filter, sort, limit = DEFAULT_PAGE, offset = 0, now }: SearchAsked,
): Promise<SearchedPage<R>> {
  const uses = usesOf(list.fields, filter, sort)
  const found: { row: R; facts: Facts }[] = []
  let looked = 0
  for await (const piece of list.pieces) {
    for (const row of piece.slice(0, MAX_SEARCHED_ROWS - looked)) {
      const facts = await list.factsOf(row, uses)
      if (filter === undefined || passesFilter(filter, facts, now)) found.push({ row, facts })
    }
    looked = Math.min(MAX_SEARCHED_ROWS, looked + piece.length)
    if (looked === MAX_SEARCHED_ROWS) break
    await setImmediate()
  }
  const { compare } = list
  if (compare !== undefined) found.sort((a, b) => compare(a.row, b.row))
  else if (sort !== undefined) {
    const byFacts = inOrder(list.fields, sort)
    found.sort((a, b) => byFacts(a.facts, b.facts))
  }
  const rows = found.slice(offset, offset + limit).map(({ row }) => row)
  return { rows, total: found.length, limit, offset, searched: { rows: looked, of: Math.max(looked, list.count) } }
}

/** Returns a test of whether a field is needed. A word without a field is searched in all text fields. */
function usesOf(fields: ListFields, filter: Filter | undefined, sort: string | undefined) {
  const named = new Set([...(filter?.terms ?? []).map(({ field }) => field), sort?.replace(/^-/, '')])
  const hasPlain = filter?.terms.some(({ field }) => field === undefined) ?? false
  return (name: string) => named.has(name) || (hasPlain && ['text', 'choice'].includes(fields[name]?.kind ?? ''))
}

type Listed<R extends Row, L extends ListFields> = FactsOf<R, L> &
  Pick<OffsetSlice, 'index' | 'prefix'> & { readonly rows: Collection<R> }

/** One page of an index, by offset. After filtering or sorting, also the number of scanned rows. */
export async function listedPage<R extends Row, L extends ListFields>(
  store: Pick<Store, 'read' | 'table'>,
  list: Listed<R, L>,
  asked: SearchAsked,
): Promise<SearchedPage<R>> {
  const { rows, index, prefix } = list
  if (!isSearch(asked)) return store.read((t) => offsetPage(t.table(rows), { ...asked, index, prefix }))
  const table = store.table(rows)
  const pieces = eachPage(table, { index, prefix, limit: STRIDE_ROWS })
  return searchedPage({ ...list, pieces, count: await table.count(index, prefix) }, asked)
}
