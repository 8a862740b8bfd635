import { AppError } from '../../../../src/core/error.ts'
import {
  discardTableFile,
  freshTableFile,
  IN_USE,
  openTableFile,
  reopenTableFile,
  seqOf,
  writeSeq,
} from '../../../store/fulltext/file.ts'
import { atomic, isDamage } from '../../../store/fulltext/statements.ts'
import type { CatalogDoc, CatalogPage, CatalogQuery } from './query.ts'
import { catalogFormat, opened, put, remove } from './rows.ts'
import { select } from './select.ts'

/** The catalog table on the calling thread. */
export type CatalogIndex = {
  readonly put: (doc: CatalogDoc) => void
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
    put: (doc) => write(() => put(live, doc)),
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

/** Calls an operation by name. */
export function perform(index: CatalogIndex, name: string, args: readonly unknown[]): unknown {
  // Casts, because a message to a thread loses the types of the operation.
  const operation = index[name as keyof CatalogIndex] as (...args: readonly unknown[]) => unknown
  return operation(...args)
}
