import type { DatabaseSync } from 'node:sqlite'
import type { TableFormat } from '../../../store/fulltext/file.ts'
import { type Prepared, statementsOf } from '../../../store/fulltext/statements.ts'
import { termsOf } from '../../../store/fulltext/terms.ts'
import type { CatalogDoc } from './query.ts'

/** Stored in place of a missing value, so that it sorts last: above every price, below every reputation. */
const NO_PRICE = 2n ** 62n
const NO_REPUTATION = -1

/**
 * The columns of `words` are in the order of the weights in `RANK`. `words` stores no text and takes prepared terms, so
 * the ascii tokenizer only splits at spaces. One index for each filter and order that would otherwise scan the table.
 */
export const catalogFormat: TableFormat = {
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

export type Open = { readonly db: DatabaseSync; readonly prepared: Prepared }

export const opened = (db: DatabaseSync): Open => ({ db, prepared: statementsOf(db) })

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
export function put({ prepared }: Open, doc: CatalogDoc): void {
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

export function remove({ prepared }: Open, id: string): void {
  const known = prepared(FIND).get(id)
  if (!known) return
  const n = Number(known['n'])
  prepared('delete from doc where n = ?').run(n)
  prepared('delete from words where rowid = ?').run(n)
  prepared('delete from tag where n = ?').run(n)
}
