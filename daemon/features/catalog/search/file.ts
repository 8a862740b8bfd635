import { rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { codeOf } from '../../../store/fulltext/statements.ts'

/** Version of the file format; files of other versions are deleted. Increase it if schema or search terms change. */
const FORMAT = 3
/** "souk" in ASCII. The number marks a file as a souk catalog. */
const APPLICATION_ID = 0x736f756b
const CACHE_KIB = 32 * 1_024

export const MEMORY = ':memory:'

/** Stored in place of a missing value, so that it sorts last: above every price, below every reputation. */
export const NO_PRICE = 2n ** 62n
export const NO_REPUTATION = -1

/**
 * The columns of `words` are in the order of the weights in `RANK`. `words` stores no text and takes prepared terms, so
 * the ascii tokenizer only splits at spaces.
 */
const SCHEMA = `
  create table state (seq integer not null);
  insert into state values (0);
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
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${FORMAT};
`

/** One index for each filter and order that would otherwise scan the table. Created once the table is filled. */
const INDEXES = `
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
`

/** SQLite result codes of unreadable contents: error (a table is missing), corrupt, notadb. */
const UNREADABLE: ReadonlySet<number> = new Set([1, 11, 26])
class ForeignFile extends Error {
  override readonly name = 'ForeignFile'
}

const WHOLE: Manner = { journal: 'wal', schema: SCHEMA + INDEXES }

type Manner = { readonly journal: 'wal' | 'off'; readonly schema: string }

function connect(path: string, { journal, schema }: Manner): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  const db = new sqlite.DatabaseSync(path)
  try {
    db.exec(`pragma journal_mode = ${journal}; pragma synchronous = normal; pragma cache_size = -${CACHE_KIB}`)
    const tables = db.prepare('select count(*) as n from sqlite_schema').get()?.['n']
    if (tables === 0) db.exec(`begin; ${schema} commit`)
    const format = db.prepare('pragma user_version').get()?.['user_version']
    const owner = db.prepare('pragma application_id').get()?.['application_id']
    if (format !== FORMAT || owner !== APPLICATION_ID)
      throw new ForeignFile(`not a catalog of format ${FORMAT}: ${path}`)
    db.prepare(
      "select (select count(*) from doc), (select count(*) from words where words match 'a'), seq from state",
    ).get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Deletes the file and SQLite's side files. */
export function discard(path: string): void {
  if (path === MEMORY) return
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

/**
 * Opens a catalog file, or creates one if it is missing or unreadable.
 * @throws if another process holds the file, or on a disk error
 */
export function openFile(path: string): DatabaseSync {
  try {
    return connect(path, WHOLE)
  } catch (error) {
    if (!(error instanceof ForeignFile) && !UNREADABLE.has(codeOf(error))) throw error
    discard(path)
    return connect(path, WHOLE)
  }
}

/** Opens an existing readable file. @throws when it is missing or no longer readable */
export function reopenFile(path: string): DatabaseSync {
  return connect(path, { journal: 'wal', schema: '' })
}

/** Creates an empty file without a journal. Fill it in one transaction, then pass it to `complete`. */
export function freshFile(path: string): DatabaseSync {
  discard(path)
  return connect(path, { journal: 'off', schema: SCHEMA })
}

export function complete(db: DatabaseSync): void {
  db.exec(INDEXES)
}
