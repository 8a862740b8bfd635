import { type Backend, onOwnThread, onThisThread } from './backend.ts'
import { MEMORY } from './file.ts'
import { openIndex } from './index.ts'
import type { CatalogDoc } from './query.ts'

/** Maximum listings for which queries are fast enough to run without a worker thread. */
export const MAX_LISTINGS_ON_MAIN_THREAD = 2_000

/** Number of listings per message to the worker thread in a rebuild. Small, because copying blocks this thread. */
const STAGE_LISTINGS = 250

/** The search table. It runs on the calling thread while small or in memory, otherwise on a worker thread. */
export type SearchTable = Backend & {
  /** Sequence number that the table had when it was opened. */
  readonly seq: number
  readonly put: (doc: CatalogDoc, seq: number) => Promise<void>
  readonly replace: (docs: Iterable<CatalogDoc> | AsyncIterable<CatalogDoc>, seq: number) => Promise<void>
}

export function openTable(path: string): SearchTable {
  const index = openIndex(path)
  const { seq, listings } = index.state()
  let backend = onThisThread(index)
  let here = true
  const leave = () => {
    if (!here || path === MEMORY) return
    here = false
    index.close()
    backend = onOwnThread(path)
  }
  if (listings > MAX_LISTINGS_ON_MAIN_THREAD) leave()

  const call: Backend['call'] = (op, ...args) => backend.call(op, ...args)
  return {
    seq,
    call,
    close: () => backend.close(),
    put: (doc, mark) => {
      const done = backend.call('put', doc, mark)
      if (here && index.state().listings > MAX_LISTINGS_ON_MAIN_THREAD) leave()
      return done
    },
    replace: async (docs, at) => {
      try {
        let batch: CatalogDoc[] = []
        let staged = 0
        const stage = async () => {
          for (let from = 0; from < batch.length; from += STAGE_LISTINGS) {
            await call('stage', batch.slice(from, from + STAGE_LISTINGS))
          }
          staged += batch.length
          batch = []
        }
        for await (const doc of docs) {
          batch.push(doc)
          if (staged + batch.length > MAX_LISTINGS_ON_MAIN_THREAD) leave()
          if (!here && batch.length >= STAGE_LISTINGS) await stage()
        }
        await stage()
        await call('adopt', { seq: at, staged })
      } catch (error) {
        await call('abandon')
        throw error
      }
    },
  }
}
