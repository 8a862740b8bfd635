import { rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Version of the file format; files of other versions are deleted. Increase it when schema or search terms change. */
const FORMAT = 1
/** "post" in ASCII. The number marks a file as a souk request table. */
const APPLICATION_ID = 0x706f7374
const CACHE_KIB = 16 * 1_024
const MEMORY = ':memory:'

/**
 * `n` is the request number, which orders lists. `words` stores no text and takes prepared terms, so the ascii
 * tokenizer only splits at spaces.
 */
const SCHEMA = `
  create table state (seq integer not null);
  insert into state values (0);
  create table doc (
    n integer primary key, id text not null, status text not null, category text not null,
    budget integer not null, created_at integer not null, expires_at integer not null
  );
  create index doc_status on doc (status, expires_at);
  create index doc_category on doc (category, status, expires_at);
  create virtual table words using fts5 (
    title, category, brief, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3'
  );
  pragma application_id = ${APPLICATION_ID};
  pragma user_version = ${FORMAT};
`

/** Opens the table. A missing, outdated or unreadable file is replaced by an empty one. */
export function openTable(path: string): DatabaseSync {
  try {
    return connect(path)
  } catch {
    // Nothing is lost, because the table is rebuilt from the store.
    return freshTable(path)
  }
}

/** Creates an empty table. It replaces any existing file. */
export function freshTable(path: string): DatabaseSync {
  if (path !== MEMORY) for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
  return connect(path)
}

function connect(path: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  const db = new sqlite.DatabaseSync(path)
  try {
    db.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${CACHE_KIB}`)
    if (numberOf(db, 'select count(*) from sqlite_schema') === 0) db.exec(`begin; ${SCHEMA} commit`)
    if (numberOf(db, 'pragma user_version') !== FORMAT || numberOf(db, 'pragma application_id') !== APPLICATION_ID) {
      throw new Error(`not a table of format ${FORMAT}: ${path}`)
    }
    db.prepare(
      "select (select count(*) from doc), (select count(*) from words where words match 'a'), seq from state",
    ).get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export function numberOf(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0])
}
