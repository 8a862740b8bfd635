import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import type { PostingStatus } from '../../../src/model/words.ts'
import { type Context, defineResource } from '../../kernel/context.ts'
import { eachPage } from '../../store/each-page.ts'
import { freshTableFile, IN_USE, openTableFile, seqOf, type TableFormat, writeSeq } from '../../store/fulltext/file.ts'
import {
  atomic,
  type Condition,
  countOf,
  idsOf,
  isDamage,
  type Prepared,
  statementsOf,
  where,
} from '../../store/fulltext/statements.ts'
import { allOf, searchTerms, termsOf } from '../../store/fulltext/terms.ts'
import type { Change, Store } from '../../store/port.ts'
import { type PostingRow, postings } from './rows.ts'

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

type PostingPage = { readonly ids: readonly string[]; readonly total: number }

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

const REBUILD_PAGE = 500

/**
 * `n` is the request number, which orders lists. `words` stores no text and takes prepared terms, so the ascii
 * tokenizer only splits at spaces.
 */
const postingFormat: TableFormat = {
  id: 0x706f7374, // "post" in ASCII
  version: 1,
  cacheKib: 16 * 1_024,
  schema: `
  create table doc (
    n integer primary key, id text not null, status text not null, category text not null,
    budget integer not null, created_at integer not null, expires_at integer not null
  );
  create virtual table words using fts5 (
    title, category, brief, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3'
  );
`,
  indexes: `
  create index doc_status on doc (status, expires_at);
  create index doc_category on doc (category, status, expires_at);
`,
}

/** The table of requests for lists and searches, derived from the store. */
export type PostingSearch = {
  /** Results include every change that was durable at the call. @throws AppError `unavailable` during a rebuild */
  readonly query: (query: PostingQuery) => PostingPage
  /** Records the store's state in the table, so that the next start need not rebuild the table. */
  readonly close: () => Promise<void>
}

type SearchOptions = {
  readonly store: Store
  /** A file, or `:memory:`. */
  readonly path: string
  readonly onFault: (error: unknown) => void
}

export const postingSearch = defineResource<PostingSearch>('posting-search')

/** Opens the search over the store. A stop of the daemon closes it. */
export async function openPostingSearchOf(ctx: Context): Promise<void> {
  const { store, config, log } = ctx
  const onFault = (error: unknown) =>
    log.error({ source: 'postings', err: String(error) }, 'the list of requests is being rebuilt')
  const search = await openPostingSearch({ store, path: join(config.dataDir, 'postings.db'), onFault })
  postingSearch.open(ctx, search, search.close)
}

/**
 * Opens the table and updates it after each commit. An outdated or damaged table is rebuilt. During the rebuild, lists
 * are refused, because they would be incomplete.
 */
export async function openPostingSearch({ store, path, onFault }: SearchOptions): Promise<PostingSearch> {
  let db = openTableFile(path, postingFormat)
  let prepared = statementsOf(db)
  let rebuilding: Promise<void> | undefined

  async function rebuild(): Promise<void> {
    if (db.isOpen) db.close()
    db = freshTableFile(path, postingFormat)
    prepared = statementsOf(db)
    for await (const rows of eachPage(store.table(postings), { index: 'number', prefix: [], limit: REBUILD_PAGE })) {
      atomic(db, () => {
        for (const row of rows) put(prepared, row)
      })
    }
    db.exec(postingFormat.indexes)
  }

  function repair(error: unknown): void {
    onFault(error)
    // If the rebuild fails too, lists stay unavailable until the next start.
    rebuilding ??= rebuild().then(() => {
      rebuilding = undefined
    }, onFault)
  }

  function follow({ writes }: Change): void {
    const changed = writes.filter(({ collection }) => collection === postings.name)
    if (changed.length === 0) return
    try {
      atomic(db, () => {
        for (const { row } of changed) if (row) put(prepared, row as PostingRow) // the collection's rows; none is deleted
      })
    } catch (error) {
      repair(error)
    }
  }

  if (seqOf(db) !== store.stats().seq) await rebuild()
  writeSeq(db, IN_USE)
  const unfollow = store.subscribe(follow)
  return {
    query(query) {
      if (rebuilding !== undefined) throw unavailable()
      try {
        return select(prepared, query)
      } catch (error) {
        if (!isDamage(error)) throw error
        repair(error)
        throw unavailable()
      }
    },
    async close() {
      unfollow()
      await rebuilding
      if (!db.isOpen) return
      if (rebuilding === undefined) writeSeq(db, store.stats().seq)
      await db.close()
    },
  }
}

function unavailable(): AppError {
  return new AppError('unavailable', 'The list of requests is being rebuilt; try again shortly.', { retryAfter: 1 })
}

const PUT = `insert into doc (n, id, status, category, budget, created_at, expires_at) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (n) do nothing`
const MOVE = 'update doc set status = ?, expires_at = ? where n = ?'
const PUT_WORDS = 'insert into words (rowid, title, category, brief) values (?, ?, ?, ?)'

/** Writes a request. After the first write, only its status, expiry and visibility change. */
function put(prepared: Prepared, row: PostingRow): void {
  if (row.poster_suspended) {
    prepared('delete from words where rowid = ?').run(row.number)
    prepared('delete from doc where n = ?').run(row.number)
    return
  }
  const { number, id, status, category, budget_max, created_at, expires_at } = row
  const { changes } = prepared(PUT).run(number, id, status, category, budget_max, created_at, expires_at)
  if (changes === 0) {
    prepared(MOVE).run(status, expires_at, number)
    return
  }
  const words = [row.title, category, textOf(row.brief)].map((text) => termsOf(text).join(' '))
  prepared(PUT_WORDS).run(number, ...words)
}

/** Text of a brief's values, without member names. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.values(value).map(textOf).join(' ')
}
