import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../../../../src/core/error.ts'
import {
  discardTableFile,
  freshTableFile,
  IN_USE,
  openTableFile,
  reopenTableFile,
  seqOf,
  type TableFormat,
  writeSeq,
} from '../../../store/fulltext/file.ts'
import { atomic, isDamage, type Prepared, statementsOf } from '../../../store/fulltext/statements.ts'
import { termsOf } from '../../../store/fulltext/terms.ts'
import { type CatalogDoc, type CatalogPage, type CatalogQuery, select } from './select.ts'

/** The catalog table on the calling thread. */
export type CatalogIndex = {
  readonly put: (...docs: CatalogDoc[]) => void
  readonly remove: (id: string) => void
  /** Adds listings to an empty table, which replaces the file at the first call. `filled` must follow. */
  readonly fill: (docs: readonly CatalogDoc[]) => void
  /** @throws if the table does not have `count` listings */
  readonly filled: (count: number) => void
  readonly query: (query: CatalogQuery) => CatalogPage
  readonly state: () => { readonly seq: number; readonly listings: number }
  /** @param seq - the store's last change in the table; undefined if a change may be missing */
  readonly close: (seq: number | undefined) => void
}

/** Opens the table in a file, or in memory for `:memory:`. An unreadable file is replaced, unless `isOurs`. */
export function openIndex(path: string, isOurs = false): CatalogIndex {
  let live = opened((isOurs ? reopenTableFile : openTableFile)(path, catalogFormat))
  let damaged = false
  let isFilling = false
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (!isDamage(error)) throw error
      damaged = true
      throw new AppError('unavailable', 'The catalog cannot be read; the next start rebuilds it.', { cause: error })
    }
  }
  const write = (work: () => void) =>
    guarded(() =>
      atomic(live.db, () => {
        work()
        writeSeq(live.db, IN_USE)
      }),
    )
  const listings = () => Number(live.prepared('select count(*) as n from doc').get()?.['n'])
  return {
    put: (...docs) =>
      write(() => {
        for (const doc of docs) put(live, doc)
      }),
    remove: (id) => write(() => remove(live, id)),
    fill: (docs) => {
      if (!isFilling) {
        live.db.close()
        live = opened(freshTableFile(path, catalogFormat))
        // One transaction without a journal, because a partial table is useless.
        live.db.exec('pragma journal_mode = off; begin')
        isFilling = true
      }
      for (const doc of docs) put(live, doc)
    },
    filled: (count) => {
      // After a crash of the worker thread, listings are missing.
      if (listings() !== count) throw new Error(`the catalog has ${listings()} of ${count} listings`)
      live.db.exec(`${catalogFormat.indexes} commit; pragma journal_mode = wal`)
      isFilling = false
    },
    query: (query) => guarded(() => select(live.prepared, query)),
    state: () => ({ seq: seqOf(live.db), listings: listings() }),
    close: (seq) => {
      if (seq !== undefined && !damaged) writeSeq(live.db, seq)
      live.db.close()
      // Delete an unreadable file, so that the next start creates a new one.
      if (damaged) discardTableFile(path)
    },
  }
}

export function perform(index: CatalogIndex, name: string, args: readonly unknown[]): unknown {
  // Casts, because a message to a thread loses the types of the operation.
  const operation = index[name as keyof CatalogIndex] as (...args: readonly unknown[]) => unknown
  return operation(...args)
}

/** Stored in place of a missing value, so that it sorts last: above every price, below every reputation. */
const NO_PRICE = 2n ** 62n
const NO_REPUTATION = -1

/**
 * The columns of `words` are in the order of the weights in `RANK`. `words` stores no text and takes prepared terms, so
 * the ascii tokenizer only splits at spaces. One index for each filter and order that would otherwise scan the table.
 */
const catalogFormat: TableFormat = {
  id: 0x736f756b, // "souk" in ASCII
  version: 3,
  cacheKib: 32 * 1_024,
  schema: `
  create table doc (
    n integer primary key, id text not null unique, category text not null, provider text not null,
    service_type text not null, fulfillment_type text not null, verified integer not null, payable integer not null,
    price integer, price_last integer not null, reputation real not null, listed_at integer not null
  );
  create table tag (tag text not null, n integer not null, primary key (tag, n)) without rowid;
  create virtual table words using fts5 (
    name, tags, category, provider, description,
    content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3'
  );
`,
  indexes: `
  create index doc_newest on doc (listed_at desc, id);
  create index doc_price_asc on doc (price_last, id);
  create index doc_price_desc on doc (price desc, id);
  create index doc_reputation on doc (reputation desc, id);
  create index category_newest on doc (category, listed_at desc, id);
  create index category_price_asc on doc (category, price_last, id);
  create index category_price_desc on doc (category, price desc, id);
  create index category_reputation on doc (category, reputation desc, id);
  create index provider_newest on doc (provider, listed_at desc, id);
  create index tag_of_doc on tag (n);
`,
}

type Open = { readonly db: DatabaseSync; readonly prepared: Prepared }

const opened = (db: DatabaseSync): Open => ({ db, prepared: statementsOf(db) })

const COLUMNS = [
  'id',
  'category',
  'provider',
  'service_type',
  'fulfillment_type',
  'verified',
  'payable',
  'price',
  'price_last',
  'reputation',
  'listed_at',
]
const MARKS = COLUMNS.map(() => '?').join(', ')
const ADD = `insert into doc (${COLUMNS.join(', ')}) values (${MARKS}) on conflict (id) do nothing`
const FIND = 'select n from doc where id = ?'
const CHANGE = `update doc set ${COLUMNS.map((column) => `${column} = ?`).join(', ')} where n = ?`
const INTO_WORDS = 'into words (rowid, name, tags, category, provider, description) values (?, ?, ?, ?, ?, ?)'

/** Adds or replaces a listing and keeps its row number. */
function put({ prepared }: Open, doc: CatalogDoc): void {
  const row = [
    doc.id,
    doc.category,
    doc.provider_id,
    doc.service_type,
    doc.fulfillment_type,
    doc.verified ? 1 : 0,
    doc.payable ? 1 : 0,
    doc.agent_price,
    doc.agent_price ?? NO_PRICE,
    doc.reputation ?? NO_REPUTATION,
    doc.listed_at,
  ]
  const { changes, lastInsertRowid } = prepared(ADD).run(...row)
  const added = changes > 0
  const n = added ? Number(lastInsertRowid) : Number(prepared(FIND).get(doc.id)?.['n'])
  if (!added) prepared(CHANGE).run(...row, n)
  const texts = [doc.name, doc.tags.join(' '), doc.category, doc.provider_name, doc.description]
  const words = texts.map((text) => termsOf(text).join(' '))
  prepared(added ? `insert ${INTO_WORDS}` : `insert or replace ${INTO_WORDS}`).run(n, ...words)
  if (!added) prepared('delete from tag where n = ?').run(n)
  for (const tag of new Set(doc.tags)) prepared('insert into tag (tag, n) values (?, ?)').run(tag, n)
}

function remove({ prepared }: Open, id: string): void {
  const known = prepared(FIND).get(id)
  if (!known) return
  const n = Number(known['n'])
  prepared('delete from doc where n = ?').run(n)
  prepared('delete from words where rowid = ?').run(n)
  prepared('delete from tag where n = ?').run(n)
}
