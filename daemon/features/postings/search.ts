import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../../src/core/error.ts'
import { compact } from '../../../src/core/record.ts'
import type { Context } from '../../kernel/context.ts'
import { defineResource } from '../../kernel/resource.ts'
import { atomic, isDamage, type Prepared, statementsOf } from '../../store/fulltext/statements.ts'
import { termsOf } from '../../store/fulltext/terms.ts'
import type { Change, Store } from '../../store/port.ts'
import { type PostingRow, postings } from './rows.ts'
import { freshTable, numberOf, openTable } from './search-file.ts'
import { type PostingPage, type PostingQuery, select } from './search-select.ts'

const REBUILD_PAGE = 500

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
  let db = openTable(path)
  let prepared = statementsOf(db)
  let rebuilding: Promise<void> | undefined

  async function rebuild(): Promise<void> {
    if (db.isOpen) db.close()
    db = freshTable(path)
    prepared = statementsOf(db)
    await fill(db, prepared, store)
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

  if (numberOf(db, 'select seq from state') !== store.stats().seq) await rebuild()
  // Mark the table as outdated until `close` stores the real sequence number.
  db.exec('update state set seq = -1')
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
      if (rebuilding === undefined) db.prepare('update state set seq = ?').run(store.stats().seq)
      db.close()
    },
  }
}

async function fill(db: DatabaseSync, prepared: Prepared, store: Store): Promise<void> {
  let after: string | undefined
  for (;;) {
    const page = await store.table(postings).page('number', [], { limit: REBUILD_PAGE, ...compact({ after }) })
    atomic(db, () => {
      for (const row of page.rows) put(prepared, row)
    })
    if (!page.more || page.cursor === null) return
    after = page.cursor
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
