import { rmSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { CatalogDoc, CatalogPage, CatalogQuery, CatalogSort } from './catalog.ts'
import { searchTerms, termsOf } from './terms.ts'

/** Written into the file; one of another format is thrown away. */
const FORMAT = 1
const MAX_STATEMENTS = 256

const SCHEMA = `
  create table meta (seq integer not null);
  insert into meta values (0);
  create table doc (
    n integer primary key, id text not null unique, category text not null, provider text not null,
    service_type text not null, fulfillment_type text not null, price integer, price_last integer not null,
    verified integer not null, reputation real not null, listed_at integer not null
  );
  create index doc_newest on doc (listed_at desc, id);
  create index doc_price on doc (price_last, id);
  create index doc_category on doc (category, listed_at desc, id);
  create index doc_provider on doc (provider, listed_at desc, id);
  create table tag (tag text not null, n integer not null, primary key (tag, n)) without rowid;
  create index tag_doc on tag (n);
  create virtual table words using fts5 (
    name, tags, category, provider, description, content='', contentless_delete=1, tokenize='ascii'
  );
  pragma user_version = ${FORMAT};
`
const NO_PRICE = 2n ** 62n
const NO_REPUTATION = -1
const RANK = 'bm25(words, 10, 6, 4, 2, 1)'

export type CatalogIndex = {
  readonly put: (doc: CatalogDoc, seq: number) => void
  readonly remove: (id: string, seq: number) => void
  readonly rebuild: (docs: readonly CatalogDoc[], seq: number) => void
  readonly query: (query: CatalogQuery) => CatalogPage
  readonly seq: () => number
  readonly close: () => void
}

function connect(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  try {
    db.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory')
    const { user_version: format } = db.prepare('pragma user_version').get() ?? {}
    if (format !== FORMAT) db.exec(`begin; ${SCHEMA} commit`)
    db.prepare('select seq from meta').get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function open(path: string): DatabaseSync {
  try {
    return connect(path)
  } catch {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    return connect(path)
  }
}

const ORDERS: Record<CatalogSort, string> = {
  relevance: `${RANK}, d.listed_at desc, d.id`,
  price_asc: 'd.price_last, d.id',
  price_desc: 'd.price desc, d.id',
  reputation: 'd.reputation desc, d.id',
  newest: 'd.listed_at desc, d.id',
}

function conditions(query: CatalogQuery): [sql: string, value: SQLInputValue][] {
  const all: [string, SQLInputValue | undefined][] = [
    ['d.category = ?', query.category],
    ['d.service_type = ?', query.service_type],
    ['d.fulfillment_type = ?', query.fulfillment_type],
    ['d.provider = ?', query.provider],
    ['d.verified = ?', query.verified_only ? 1 : undefined],
    ['d.price >= ?', query.min_price],
    ['d.price <= ?', query.max_price],
    ['d.reputation >= ?', query.min_reputation],
    ['d.n in (select n from tag where tag = ?)', query.tag],
  ]
  return all.flatMap(([sql, value]) => (value === undefined ? [] : [[sql, value] as [string, SQLInputValue]]))
}

function matchOf(terms: readonly string[]): string {
  return `${terms.map((term) => `"${term}"`).join(' AND ')}*`
}

export function openIndex(path: string): CatalogIndex {
  const db = open(path)
  const statements = new Map<string, StatementSync>()
  const sql = (text: string) => {
    const known = statements.get(text)
    if (known) return known
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    const made = db.prepare(text)
    statements.set(text, made)
    return made
  }
  const atomic = (work: () => void) => {
    db.exec('begin')
    try {
      work()
      db.exec('commit')
    } catch (error) {
      db.exec('rollback')
      throw error
    }
  }
  const drop = (id: string) => {
    const row = sql('delete from doc where id = ? returning n').get(id)
    if (!row) return
    sql('delete from words where rowid = ?').run(row['n'] ?? null)
    sql('delete from tag where n = ?').run(row['n'] ?? null)
  }
  const add = (doc: CatalogDoc) => {
    const n = sql(
      'insert into doc (id, category, provider, service_type, fulfillment_type, price, price_last, verified, reputation, listed_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(
      doc.id,
      doc.category,
      doc.provider_id,
      doc.service_type,
      doc.fulfillment_type,
      doc.agent_price,
      doc.agent_price ?? NO_PRICE,
      doc.verified ? 1 : 0,
      doc.reputation ?? NO_REPUTATION,
      doc.listed_at,
    ).lastInsertRowid
    const texts = [doc.name, doc.tags.join(' '), doc.category, doc.provider_name, doc.description]
    sql('insert into words (rowid, name, tags, category, provider, description) values (?, ?, ?, ?, ?, ?)').run(
      n,
      ...texts.map((text) => termsOf(text).join(' ')),
    )
    for (const tag of new Set(doc.tags)) sql('insert into tag values (?, ?)').run(tag, n)
  }
  const mark = (seq: number) => sql('update meta set seq = max(seq, ?)').run(seq)
  return {
    put: (doc, seq) =>
      atomic(() => {
        drop(doc.id)
        add(doc)
        mark(seq)
      }),
    remove: (id, seq) =>
      atomic(() => {
        drop(id)
        mark(seq)
      }),
    rebuild: (docs, seq) =>
      atomic(() => {
        db.exec('delete from doc; delete from tag; delete from words; update meta set seq = 0')
        for (const doc of docs) add(doc)
        mark(seq)
      }),
    query: (query) => {
      const where = conditions(query)
      const terms = query.q?.trim() ? searchTerms(query.q) : undefined
      if (terms?.length === 0) return { ids: [], total: 0 }
      if (terms) where.push(['words match ?', matchOf(terms)])
      const from = terms ? 'words join doc d on d.n = words.rowid' : 'doc d'
      const filter = where.length > 0 ? `where ${where.map(([text]) => text).join(' and ')}` : ''
      const values = where.map(([, value]) => value)
      const sort = query.sort === 'relevance' && !terms ? 'newest' : query.sort
      const total = Number(sql(`select count(*) as total from ${from} ${filter}`).get(...values)?.['total'])
      const rows = sql(`select d.id from ${from} ${filter} order by ${ORDERS[sort]} limit ? offset ?`).all(
        ...values,
        query.limit,
        query.offset,
      )
      return { ids: rows.map((row) => String(row['id'])), total }
    },
    seq: () => Number(sql('select seq from meta').get()?.['seq']),
    close: () => db.close(),
  }
}
