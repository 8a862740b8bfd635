import { AppError } from '../../../../src/core/error.ts'
import { defineResource } from '../../../kernel/resource.ts'
import type { CatalogDoc, CatalogPage, CatalogQuery } from './query.ts'
import { openTable } from './table.ts'

/**
 * The derived catalog table: never a source of truth. Calls take effect in the order they are made, so a query sees
 * every write before it; only while `rebuild` runs do writes wait and queries answer from the old contents.
 * @throws {AppError} `unavailable` beyond `MAX_WAITING_QUERIES`, after `close`, and where the file is damaged
 */
export type Catalog = {
  /** Adds or replaces a listing; `seq` is that of the store's change. */
  readonly put: (doc: CatalogDoc, seq: number) => Promise<void>
  /** Drops a listing; an unknown id only moves the seq on. */
  readonly remove: (id: string, seq: number) => Promise<void>
  /** Replaces everything by these listings; where their source throws, all stays as it was. */
  readonly rebuild: (docs: Iterable<CatalogDoc> | AsyncIterable<CatalogDoc>, seq: number) => Promise<void>
  readonly query: (query: CatalogQuery) => Promise<CatalogPage>
  /**
   * The store's sequence number that the table reflects, 0 where it holds nothing to rely on: catch up from there or
   * rebuild. A table that was not closed says the one before its last, whose writes may be there in part.
   */
  readonly seq: () => number
  readonly close: () => Promise<void>
}

/** Queries under way at once; each may take some tens of milliseconds. */
export const MAX_WAITING_QUERIES = 256

/**
 * Opens the table in a file, or in memory for `:memory:`. A file that is missing, damaged or of another format
 * is made anew, with the seq 0.
 * @throws where another process holds the file or the disk refuses
 */
export const catalog = defineResource<Catalog>('catalog')

export async function openCatalog({ path }: { path: string }): Promise<Catalog> {
  const table = openTable(path)
  const order = inOrder()
  const progress = progressFrom(table.seq)
  let waitingQueries = 0
  let closing: Promise<void> | undefined
  const unlessClosed = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new AppError('unavailable', 'The catalog is closed.')
    return work()
  }
  const write = (seq: number, work: (mark: number) => Promise<void>) =>
    unlessClosed(() => order.inTurn(() => progress.writing(seq, work)))

  return {
    put: (doc, seq) => write(seq, (mark) => table.put(doc, mark)),
    remove: (id, seq) => write(seq, (mark) => table.call('remove', id, mark)),
    rebuild: (docs, seq) =>
      unlessClosed(() =>
        order.alone(async () => {
          await table.replace(docs, seq)
          progress.restart(seq)
        }),
      ),
    query: (query) =>
      unlessClosed(async () => {
        if (waitingQueries >= MAX_WAITING_QUERIES) throw tooManyQueries()
        waitingQueries += 1
        try {
          return await table.call('query', query)
        } finally {
          waitingQueries -= 1
        }
      }),
    seq: progress.seq,
    close: () => {
      closing ??= order.inTurn(async () => {
        if (progress.unmarked()) await table.call('mark', progress.seq())
        await table.close()
      })
      return closing
    },
  }
}

function tooManyQueries(): AppError {
  return new AppError('unavailable', 'Too many searches are waiting; ask again shortly.', { retryAfter: 1 })
}

/** Work starts in the order of the calls; while something runs alone, what comes later is held back. */
function inOrder() {
  const held: (() => void)[] = []
  let taken = false
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    if (!taken && held.length === 0) return work()
    return new Promise((resolve, reject) => held.push(() => void work().then(resolve, reject)))
  }
  const release = () => {
    taken = false
    for (let next = held.shift(); next; next = taken ? undefined : held.shift()) next()
  }
  const alone = (work: () => Promise<void>) =>
    inTurn(async () => {
      taken = true
      await work().finally(release)
    })
  return { inTurn, alone }
}

/**
 * What to write down as reflected. Several writes may share a seq, so a write marks the seq before its own, whose
 * writes are all done; closing marks the last. After a failed write there is nothing to rely on until a rebuild.
 */
function progressFrom(start: number) {
  let last = start
  let whole = start
  let lost = false
  return {
    seq: () => (lost ? 0 : last),
    unmarked: () => last !== whole,
    restart: (seq: number) => {
      last = seq
      whole = seq
      lost = false
    },
    writing: async (seq: number, work: (mark: number) => Promise<void>) => {
      if (seq > last) {
        whole = last
        last = seq
      }
      try {
        await work(lost ? 0 : whole)
      } catch (error) {
        lost = true
        throw error
      }
    },
  }
}
