import { setImmediate } from 'node:timers/promises'
import { invalidField } from '../../../src/core/error.ts'
import { type Facts, type Filter, type ListFields, MAX_SEARCHED_ROWS } from '../../../src/core/filter.ts'
import { DEFAULT_PAGE } from '../../../src/core/limits.ts'
import type { PartyRole } from '../../../src/model/words.ts'
import { ownIds, ownRows } from '../../kernel/parties.ts'
import { participants } from '../../kernel/rows.ts'
import { eachPage, offsetPage } from '../../store/each-page.ts'
import type { Collection, Reader, ReadTx, Row, Store } from '../../store/port.ts'
import { isSearch, type SearchAsked, type SearchedPage, STRIDE_ROWS, searchedPage } from '../../store/searched-page.ts'
import type { threadParties } from '../threads/rows.ts'

type PartyQuery = SearchAsked & {
  readonly participant?: string | undefined
  readonly role?: PartyRole | undefined
  readonly status?: string | undefined
}
/** `rows` needs the indexes `newest` and `status`; `fields` needs `status`, and `age` in the order of `newest`. */
export type OfParties<R extends Row, L extends ListFields> = {
  readonly rows: Collection<R>
  readonly parties: typeof threadParties
  readonly fields: L
  /** Name of the index of open rows; it may have any order. */
  readonly openIndex?: string
  /** Sorts rows by urgency. */
  readonly worst?: Worst<R>
  readonly factsOf: (row: R, uses: (field: keyof L & string) => boolean) => Promise<Facts<L>>
}
type Worst<R extends Row> = {
  readonly compare: (a: R, b: R) => number
  readonly isOpen: (row: R) => boolean
  /** Open rows, most urgent first. Rows beyond the scan limit are not sorted. */
  readonly open: (rows: Reader<R>) => AsyncIterable<readonly R[]>
}
type Of<R extends Row> = Pick<OfParties<R, ListFields>, 'rows' | 'parties'>

/** Jobs or conversations of all parties, by party and status. If requested, filters and sorts across all pages. */
export async function partyPage<R extends Row, L extends ListFields>(
  store: Pick<Store, 'read' | 'table'>,
  of: OfParties<R, L>,
  asked: PartyQuery,
): Promise<SearchedPage<R>> {
  return isSearch(asked) ? searchParties(store, of, asked) : store.read((t) => partySlice(t, of, asked))
}

/**
 * One page that needs no search, read in one transaction.
 * @throws AppError `invalid_request` for a role without a participant
 */
async function partySlice<R extends Row>(t: ReadTx, of: Of<R>, asked: PartyQuery) {
  const { participant, role, status, limit, offset } = asked
  if (participant !== undefined) {
    const wallet = await walletOf(t, participant)
    return ownRows(t, of, { wallet, role, status, limit, offset })
  }
  if (role !== undefined) throw invalidField('role', 'filters by the role of `participant`, which is missing')
  const [index, prefix] = status === undefined ? ['newest', []] : ['status', [status]]
  return offsetPage(t.table(of.rows), { index, prefix, limit, offset })
}

async function walletOf(t: ReadTx, participant: string): Promise<string> {
  return (await t.table(participants).get(participant))?.wallet ?? participant
}

async function searchParties<R extends Row, L extends ListFields>(
  store: Pick<Store, 'table'>,
  of: OfParties<R, L>,
  asked: PartyQuery,
): Promise<SearchedPage<R>> {
  const { participant, role, status, filter, sort } = asked
  const worst = sort === WORST ? of.worst : undefined
  const list = { ...of, compare: worst?.compare }
  if (participant !== undefined) return searchedPage({ ...list, ...(await ofOne(store, of, asked)) }, asked)
  if (role !== undefined) throw invalidField('role', 'filters by the role of `participant`, which is missing')
  const table = store.table(of.rows)
  const statuses = status === undefined ? statusesIn(filter) : [status]
  if (statuses === undefined && of.openIndex !== undefined && isOpenAsked(filter)) {
    const pieces = worst?.open(table) ?? eachPage(table, { index: of.openIndex, prefix: [], limit: STRIDE_ROWS })
    return searchedPage(
      { ...list, pieces, count: await table.count(of.openIndex, []) },
      { ...asked, sort: sort ?? 'age' },
    )
  }
  if (statuses === undefined && worst !== undefined) return worstPage(table, { ...of, worst }, asked)
  if (statuses === undefined) {
    const pieces = eachPage(table, { index: 'newest', prefix: [], limit: STRIDE_ROWS })
    return searchedPage({ ...list, pieces, count: await table.count('newest', []) }, asked)
  }
  const counts = await Promise.all(statuses.map((one) => table.count('status', [one])))
  // Read the statuses with the fewest rows first, because a status with many rows would use up the scan limit.
  const parts = statuses.map((name, i) => ({ name, count: counts[i] ?? 0 })).toSorted((a, b) => a.count - b.count)
  const names = parts.map(({ name }) => name)
  const found = { ...list, pieces: byStatus(table, names), count: counts.reduce((sum, one) => sum + one, 0) }
  return searchedPage(found, { ...asked, sort: sort ?? 'age' })
}

const WORST = 'worst'

/** Open rows up to the scan limit, sorted. Ended rows follow in index order and are read only as far as needed. */
async function worstPage<R extends Row, L extends ListFields>(
  table: Reader<R>,
  of: OfParties<R, L> & { readonly worst: Worst<R> },
  asked: PartyQuery,
): Promise<SearchedPage<R>> {
  const { worst, openIndex = 'newest' } = of
  const open = (await firstRows(worst.open(table), MAX_SEARCHED_ROWS)).toSorted(worst.compare)
  // Keys of shown rows, so that a row that ends during the request is not shown twice.
  const keyOf = (row: R) => row[of.rows.key]
  const told = new Set(open.map(keyOf))
  const ended = endedRows(table, (row) => !worst.isOpen(row) && !told.has(keyOf(row)))
  const count = await table.count('newest', [])
  if (asked.filter !== undefined && asked.filter.terms.length > 0)
    return searchedPage({ ...of, pieces: inTurn(open, ended), count }, { ...asked, sort: undefined })
  const { limit = DEFAULT_PAGE, offset = 0 } = asked
  const rows = open.slice(offset, offset + limit)
  const behind = Math.max(0, offset - open.length)
  const wanted = rows.length < limit ? await firstRows(ended, behind + limit - rows.length) : []
  // The total omits open rows beyond the scan limit, because they are not shown. `searched` reports this.
  const total = count - Math.max(0, (await table.count(openIndex, [])) - open.length)
  return { rows: [...rows, ...wanted.slice(behind)], total, limit, offset, searched: { rows: total, of: count } }
}

async function firstRows<R>(pieces: AsyncIterable<readonly R[]>, limit: number): Promise<R[]> {
  const rows: R[] = []
  for await (const piece of pieces) {
    rows.push(...piece)
    if (rows.length >= limit) break
    await setImmediate()
  }
  return rows.slice(0, limit)
}

async function* endedRows<R extends Row>(table: Reader<R>, isEnded: (row: R) => boolean) {
  for await (const piece of eachPage(table, { index: 'newest', prefix: [], limit: STRIDE_ROWS }))
    yield piece.filter(isEnded)
}

async function* inTurn<R>(first: readonly R[], then: AsyncIterable<readonly R[]>) {
  for (let at = 0; at < first.length; at += STRIDE_ROWS) yield first.slice(at, at + STRIDE_ROWS)
  yield* then
}

async function* byStatus<R extends Row>(table: Parameters<typeof eachPage<R>>[0], statuses: readonly string[]) {
  for (const status of statuses) yield* eachPage(table, { index: 'status', prefix: [status], limit: STRIDE_ROWS })
}

/** Statuses that a filter allows, for reading by index; undefined if the filter does not name them. */
function statusesIn(filter: Filter | undefined): readonly string[] | undefined {
  const term = filter?.terms.find(({ field, not }) => field === 'status' && !not)
  if (term?.wanted.some(({ field }) => field !== undefined)) return undefined
  return term && [...new Set(term.wanted.map(({ value }) => String(value)))]
}

function isOpenAsked(filter: Filter | undefined): boolean {
  const term = filter?.terms.find(({ field, not }) => field === 'open' && !not)
  return term?.wanted.every(({ value }) => value === true) ?? false
}

async function ofOne<R extends Row>(store: Pick<Store, 'table'>, of: Of<R>, asked: PartyQuery) {
  const { participant = '', role, status } = asked
  const wallet = await walletOf(store, participant)
  const { total } = await ownIds(store, of.parties, { wallet, role, status, limit: 1, offset: 0 })
  async function* pieces() {
    for (let offset = 0; offset < Math.min(total, MAX_SEARCHED_ROWS); offset += STRIDE_ROWS) {
      const { ids } = await ownIds(store, of.parties, { wallet, role, status, limit: STRIDE_ROWS, offset })
      yield store.table(of.rows).getMany(ids)
    }
  }
  return { pieces: pieces(), count: total }
}
