import { AppError } from '../../../../src/core/error.ts'
import { workerFile } from '../../../../src/core/folder.ts'
import { HOUR_MS } from '../../../../src/core/time.ts'
import { defineResource } from '../../../kernel/context.ts'
import { openThreadPool, type PoolLimits, ThreadError } from '../../../ports/threads.ts'
import { MEMORY } from '../../../store/fulltext/file.ts'
import { type CatalogIndex, openIndex, perform } from './index.ts'
import type { CatalogDoc, CatalogPage, CatalogQuery } from './select.ts'

/**
 * The catalog table, derived from the store. Calls take effect in order, so queries see earlier writes.
 * @throws {AppError} `unavailable` if over `MAX_WAITING_QUERIES` wait, after `close`, or if the file is damaged
 */
export type Catalog = {
  /** Adds or replaces listings, in one step. */
  readonly put: (...docs: readonly CatalogDoc[]) => Promise<void>
  readonly remove: (id: string) => Promise<void>
  readonly query: (query: CatalogQuery) => Promise<CatalogPage>
  /** @param seq - the store's last change in the table, so that the next start need not rebuild it */
  readonly close: (seq?: number) => Promise<void>
}

type Docs = Iterable<CatalogDoc> | AsyncIterable<CatalogDoc>

/** Maximum concurrent queries. Each may take tens of milliseconds. */
export const MAX_WAITING_QUERIES = 256
/** Maximum listings for which queries are fast enough to run without a worker thread. */
export const MAX_LISTINGS_ON_MAIN_THREAD = 2_000
/** Number of listings per message to the worker thread in a rebuild. Small, because copying blocks this thread. */
const FILL_LISTINGS = 250

export const catalog = defineResource<Catalog>('catalog')

/**
 * Opens the table in a file, or in memory for `:memory:`. If the file does not have the store's change `seq`, the table
 * is rebuilt from `docs`.
 * @throws if another process holds the file, or on a disk error
 */
export async function openCatalog(path: string, seq = 0, docs: () => Docs = () => []): Promise<Catalog> {
  const table = openTable(path)
  if (table.seq !== seq) await table.fill(docs())
  let waitingQueries = 0
  let isBehind = false
  let closing: Promise<void> | undefined
  const unlessClosed = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new AppError('unavailable', 'The catalog is closed.')
    return work()
  }
  const write = (work: () => Promise<void>) =>
    unlessClosed(() =>
      work().catch((error: unknown) => {
        isBehind = true
        throw error
      }),
    )
  return {
    put: (...docs) => write(() => table.put(docs)),
    remove: (id) => write(() => table.call('remove', id)),
    query: (query) =>
      unlessClosed(async () => {
        if (waitingQueries >= MAX_WAITING_QUERIES)
          throw new AppError('unavailable', 'Too many searches are waiting; try again shortly.', { retryAfter: 1 })
        waitingQueries += 1
        try {
          return await table.call('query', query)
        } finally {
          waitingQueries -= 1
        }
      }),
    close: (at) => {
      closing ??= table.close(isBehind ? undefined : at)
      return closing
    },
  }
}

/** The search table. It runs on the calling thread while small or in memory, otherwise on a worker thread. */
function openTable(path: string) {
  const index = openIndex(path)
  const { seq, listings } = index.state()
  let thread: ReturnType<typeof openThread> | undefined
  const leave = () => {
    if (thread || path === MEMORY) return
    index.close(undefined)
    thread = openThread(path)
  }
  if (listings > MAX_LISTINGS_ON_MAIN_THREAD) leave()

  /** Calls run in order, here and on the thread. */
  async function call<Op extends keyof CatalogIndex>(
    op: Op,
    ...args: Parameters<CatalogIndex[Op]>
  ): Promise<ReturnType<CatalogIndex[Op]>> {
    const result = thread ? await thread.call(op, args) : perform(index, op, args)
    return result as ReturnType<CatalogIndex[Op]> // the operation's own
  }

  return {
    /** The store's last change when the table was closed; `IN_USE` if a change may be missing. */
    seq,
    call,
    put: (docs: readonly CatalogDoc[]): Promise<void> => {
      const done = call('put', ...docs)
      if (!thread && index.state().listings > MAX_LISTINGS_ON_MAIN_THREAD) leave()
      return done
    },
    fill: async (docs: Docs): Promise<void> => {
      let batch: CatalogDoc[] = []
      let count = 0
      const flush = async () => {
        await call('fill', batch)
        batch = []
      }
      for await (const doc of docs) {
        batch.push(doc)
        count += 1
        if (count > MAX_LISTINGS_ON_MAIN_THREAD) leave()
        if (thread && batch.length >= FILL_LISTINGS) await flush()
      }
      await flush()
      await call('filled', count)
    },
    close: async (at: number | undefined): Promise<void> => {
      // A table that cannot be closed is rebuilt at the next start.
      await call('close', at).catch(() => undefined)
      await thread?.close()
    },
  }
}

/** One thread that lives as long as the table. A query takes milliseconds; only a rebuild takes long. */
const LIMITS: PoolLimits = {
  size: 1,
  maxWaiting: Number.POSITIVE_INFINITY,
  deadlineMs: HOUR_MS,
  maxHeapMb: 512,
  idleMs: HOUR_MS,
}

/** Runs the table on a worker thread, because ranking would block other requests. A crashed thread is replaced. */
function openThread(path: string) {
  const pool = openThreadPool(workerFile(import.meta.url, './catalog'), { ...LIMITS, data: path })
  return {
    call: (name: string, args: readonly unknown[]): Promise<unknown> =>
      pool.run({ name, args, who: 'catalog' }).catch((cause: unknown) => {
        if (!(cause instanceof ThreadError)) throw cause
        throw new AppError('unavailable', 'The catalog search stopped; try again.', { retryAfter: 1, cause })
      }),
    close: pool.close,
  }
}
