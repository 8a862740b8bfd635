import { renameSync } from 'node:fs'
import { AppError } from '../../../../src/core/error.ts'
import { atomic, isDamage } from '../../../store/fulltext/statements.ts'
import { complete, discard, freshFile, MEMORY, openFile } from './file.ts'
import type { CatalogDoc, CatalogPage, CatalogQuery } from './query.ts'
import { mark, type Open, opened, put, remove } from './rows.ts'
import { select } from './select.ts'

/** The catalog table on the calling thread. */
export type CatalogIndex = {
  readonly put: (doc: CatalogDoc, seq: number) => void
  readonly remove: (id: string, seq: number) => void
  /** Records the sequence number of the last change in the table; 0 means that the table must be rebuilt. */
  readonly mark: (seq: number) => void
  /** Adds listings to a new table that will replace the current one. The first call creates the new table. */
  readonly stage: (docs: readonly CatalogDoc[]) => void
  /** Replaces the current table with the new one. @throws if the new table does not have `staged` listings */
  readonly adopt: (made: { readonly seq: number; readonly staged: number }) => void
  /** Deletes the new table. */
  readonly abandon: () => void
  readonly query: (query: CatalogQuery) => CatalogPage
  readonly state: () => { readonly seq: number; readonly listings: number }
  readonly close: () => void
}

/** Opens the table in a file, or in memory for `:memory:`; `openAs` handles an unreadable file. */
export function openIndex(path: string, openAs: typeof openFile = openFile): CatalogIndex {
  let live = opened(openAs(path))
  let damaged = false
  const staging = stagingFor(path)
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      if (!isDamage(error)) throw error
      damaged = true
      throw unreadable(error)
    }
  }
  const write = (seq: number, work: () => void) =>
    guarded(() =>
      atomic(live.db, () => {
        work()
        mark(live, seq)
      }),
    )
  return {
    put: (doc, seq) => write(seq, () => put(live, doc)),
    remove: (id, seq) => write(seq, () => remove(live, id)),
    mark: (seq) => write(seq, () => undefined),
    stage: staging.add,
    abandon: staging.abandon,
    adopt: ({ seq, staged }) => {
      const ready = staging.finish(seq, staged)
      live.db.close()
      if (path === MEMORY) live = ready
      else {
        ready.db.close()
        try {
          staging.moveInto(path)
        } finally {
          live = opened(openAs(path))
        }
      }
      damaged = false
    },
    query: (query) => guarded(() => select(live.prepared, query)),
    state: () => {
      const row = live.prepared('select seq, (select count(*) from doc) as listings from state').get()
      return { seq: Number(row?.['seq']), listings: Number(row?.['listings']) }
    },
    close: () => {
      staging.abandon()
      live.db.close()
      // Delete an unreadable file, so that the next start creates a new one.
      if (damaged) discard(path)
    },
  }
}

function unreadable(cause: unknown): AppError {
  return new AppError('unavailable', 'The catalog cannot be read; the next start rebuilds it.', { cause })
}

/** A new table next to `path`, filled in one transaction, because a partial table is useless. */
function stagingFor(path: string) {
  const stagePath = path === MEMORY ? MEMORY : `${path}.new`
  let next: Open | undefined
  let count = 0
  const begun = () => {
    if (next) return next
    next = opened(freshFile(stagePath))
    next.db.exec('begin')
    count = 0
    return next
  }
  return {
    add: (docs: readonly CatalogDoc[]) => {
      const into = begun()
      for (const doc of docs) put(into, doc)
      count += docs.length
    },
    finish: (seq: number, staged: number) => {
      const ready = begun()
      // After a crash of the worker thread, the new table is incomplete.
      if (count !== staged) throw new Error(`${count} of ${staged} listings were staged`)
      complete(ready.db)
      mark(ready, seq)
      ready.db.exec('commit')
      next = undefined
      return ready
    },
    moveInto: (target: string) => {
      discard(target)
      renameSync(stagePath, target)
    },
    abandon: () => {
      next?.db.close()
      next = undefined
      discard(stagePath)
    },
  }
}
