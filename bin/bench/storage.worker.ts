import { readFile } from 'node:fs/promises'
import { openLowdbStore } from '../../daemon/store/lowdb/open.ts'
import { preload, purchase, purchaseCollections, readIndexes } from './purchase.ts'

/** What a measuring process is started for. */
export type Job =
  /** Fills a store, then answers questions about its commit rate. */
  | { readonly do: 'commit'; readonly dir: string; readonly records: number }
  /** Fills a store, folds it into a snapshot, leaves some of it in the journal, and ends. */
  | { readonly do: 'fill'; readonly dir: string; readonly records: number }
  /** Opens that store with all its indexes. */
  | { readonly do: 'open'; readonly dir: string }
  /** JSON.parse of the same bytes as one array, as lowdb itself would read them. */
  | { readonly do: 'parse'; readonly file: string }

export type Ask = { readonly writers: number; readonly ms: number }
/** Transactions a second, and the middle time of one, milliseconds. */
export type Rate = { readonly perSecond: number; readonly medianMs: number }

const MILLISECONDS_A_SECOND = 1_000
/** Part of the records that recovery finds in the journal instead of the snapshot. */
const JOURNAL_SHARE = 0.1
const FIRST_MEASURED = 100_000_000
/** The journal is never folded while a rate is taken. */
const NO_COMPACTION_BYTES = Number.POSITIVE_INFINITY

function open(dir: string) {
  return openLowdbStore({
    dir,
    collections: purchaseCollections,
    now: Date.now,
    compactAboveBytes: NO_COMPACTION_BYTES,
    onFatal: (error) => {
      throw error
    },
  })
}

function reply(message: unknown): void {
  process.send?.(message)
}

async function commit(dir: string, records: number): Promise<void> {
  const store = await open(dir)
  await preload(store, records)
  let next = FIRST_MEASURED
  const rate = async ({ writers, ms }: Ask): Promise<Rate> => {
    const times: number[] = []
    const start = performance.now()
    const write = async (): Promise<void> => {
      while (performance.now() - start < ms) {
        const began = performance.now()
        const n = next
        next += 1
        await store.tx((t) => purchase(t, n))
        times.push(performance.now() - began)
      }
    }
    await Promise.all(Array.from({ length: writers }, write))
    const seconds = (performance.now() - start) / MILLISECONDS_A_SECOND
    times.sort((a, b) => a - b)
    return { perSecond: times.length / seconds, medianMs: times[times.length >> 1] ?? Number.NaN }
  }
  process.on('message', (ask: Ask | 'stop') => {
    if (ask === 'stop') store.close().then(() => process.disconnect(), fail)
    else rate(ask).then(reply, fail)
  })
  reply(store.stats())
}

async function fill(dir: string, records: number): Promise<void> {
  const store = await open(dir)
  await preload(store, Math.round(records * (1 - JOURNAL_SHARE)))
  await store.compact()
  const rest = Math.round((records - store.stats().records) / 3)
  await Promise.all(Array.from({ length: rest }, (_, i) => store.tx((t) => purchase(t, FIRST_MEASURED + i))))
  const { records: filled } = store.stats()
  await store.close()
  reply({ records: filled })
}

async function timed(body: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  const kept = await body()
  reply({ ms: performance.now() - start, kept: kept !== undefined })
}

async function openWhole(dir: string): Promise<unknown> {
  const store = await open(dir)
  await readIndexes(store)
  return store
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
}

async function main(job: Job): Promise<void> {
  if (job.do === 'commit') await commit(job.dir, job.records)
  else if (job.do === 'fill') await fill(job.dir, job.records)
  else if (job.do === 'open') await timed(() => openWhole(job.dir))
  else await timed(async () => JSON.parse(await readFile(job.file, 'utf8')))
  if (job.do !== 'commit') process.disconnect()
}

main(JSON.parse(process.argv[2] ?? 'null') as Job).catch(fail)
