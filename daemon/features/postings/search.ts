import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { eachPage } from '../../store/each-page.ts'
import { freshTableFile, IN_USE, openTableFile, seqOf, type TableFormat, writeSeq } from '../../store/fulltext/file.ts'
import { atomic, isDamage, type Prepared, statementsOf } from '../../store/fulltext/statements.ts'
import { termsOf } from '../../store/fulltext/terms.ts'
import type { Change, Store } from '../../store/port.ts'
import { type PostingRow, postings } from './rows.ts'
import { type PostingPage, type PostingQuery, select } from './search-select.ts'

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

type Parts = {
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
export async function openPostingSearch({ store, path, onFault }: Parts): Promise<PostingSearch> {
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
      db.close()
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
