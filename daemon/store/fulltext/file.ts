import { rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { codeOf } from './statements.ts'

export const MEMORY = ':memory:'

/** A search table in a SQLite file. The table is derived from the store, so it can be rebuilt at any time. */
export type TableFormat = {
  /** Marks a file as this table's (`application_id`). */
  readonly id: number
  /** Files of another version are replaced. Increase it if schema or search terms change. */
  readonly version: number
  readonly cacheKib: number
  /** Creates the tables, among them `doc` and the FTS5 table `words`. */
  readonly schema: string
  readonly indexes: string
}

/** Stored in place of the store's last change while the table is in use, so that it is rebuilt after a crash. */
export const IN_USE = -1
const STATE = `create table state (seq integer not null); insert into state values (${IN_USE});`

/** SQLite result codes of unreadable contents: error (a table is missing), corrupt, notadb. */
const UNREADABLE: ReadonlySet<number> = new Set([1, 11, 26])
class ForeignFile extends Error {
  override readonly name = 'ForeignFile'
}

function connect(path: string, { id, version, cacheKib }: TableFormat, create: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  const db = new sqlite.DatabaseSync(path)
  try {
    db.exec(`pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -${cacheKib}`)
    if (numberOf(db, 'select count(*) from sqlite_schema') === 0)
      db.exec(`begin; ${create} pragma application_id = ${id}; pragma user_version = ${version}; commit`)
    if (numberOf(db, 'pragma user_version') !== version || numberOf(db, 'pragma application_id') !== id)
      throw new ForeignFile(`not a table of version ${version}: ${path}`)
    db.prepare(
      "select (select count(*) from doc), (select count(*) from words where words match 'a'), seq from state",
    ).get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens a table, or creates one if the file is missing or unreadable.
 * @throws if another process holds the file, or on a disk error
 */
export function openTableFile(path: string, format: TableFormat): DatabaseSync {
  const whole = STATE + format.schema + format.indexes
  try {
    return connect(path, format, whole)
  } catch (error) {
    if (!(error instanceof ForeignFile) && !UNREADABLE.has(codeOf(error))) throw error
    discardTableFile(path)
    return connect(path, format, whole)
  }
}

/** Opens an existing readable table. @throws when it is missing or no longer readable */
export function reopenTableFile(path: string, format: TableFormat): DatabaseSync {
  return connect(path, format, '')
}

/** Replaces the file by an empty table without indexes. Fill it, then create the indexes. */
export function freshTableFile(path: string, format: TableFormat): DatabaseSync {
  discardTableFile(path)
  return connect(path, format, STATE + format.schema)
}

/** Deletes the file and SQLite's side files. */
export function discardTableFile(path: string): void {
  if (path === MEMORY) return
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

export function seqOf(db: DatabaseSync): number {
  return numberOf(db, 'select seq from state')
}

export function writeSeq(db: DatabaseSync, seq: number): void {
  db.prepare('update state set seq = ?').run(seq)
}

export function numberOf(db: DatabaseSync, sql: string): number {
  return Number(Object.values(db.prepare(sql).get() ?? {})[0])
}
