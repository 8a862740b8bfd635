import { AppError } from '../../../../src/core/error.ts'
import { defineResource } from '../../../kernel/resource.ts'
import type { CatalogDoc, CatalogPage, CatalogQuery } from './query.ts'
import { openTable } from './table.ts'

/**
 * The catalog table, derived from the store. Calls take effect in order, so queries see earlier writes. During
 * `rebuild`, writes wait and queries read the old contents.
 * @throws {AppError} `unavailable` if over `MAX_WAITING_QUERIES` wait, after `close`, or if the file is damaged
 */
export type Catalog = {
  /** Adds or replaces a listing; `seq` is the sequence number of the store's change. */
  readonly put: (doc: CatalogDoc, seq: number) => Promise<void>
  /** Removes a listing. If the id is unknown, only the sequence number advances. */
  readonly remove: (id: string, seq: number) => Promise<void>
  /** Replaces all listings. If `docs` throws, nothing changes. */
  readonly rebuild: (docs: Iterable<CatalogDoc> | AsyncIterable<CatalogDoc>, seq: number) => Promise<void>
  readonly query: (query: CatalogQuery) => Promise<CatalogPage>
  /**
   * The store's sequence number that the table reflects; 0 means that a rebuild is needed. After an unclean stop it is
   * one less, because the last writes may be partial.
   */
  readonly seq: () => number
  readonly close: () => Promise<void>
}

/** Maximum concurrent queries. Each may take tens of milliseconds. */
export const MAX_WAITING_QUERIES = 256

export const catalog = defineResource<Catalog>('catalog')

/**
 * Opens the table in a file, or in memory for `:memory:`. A missing, damaged or outdated file is created anew with
 * sequence 0.
 * @throws if another process holds the file, or on a disk error
 */
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
  return new AppError('unavailable', 'Too many searches are waiting; try again shortly.', { retryAfter: 1 })
}

/** Runs tasks in call order. Exclusive tasks block later calls. */
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
 * Tracks the sequence number to record with a write. Several writes may share a number, so each write records the
 * number before its own; closing records the last one. A failed write invalidates the table until a rebuild.
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
