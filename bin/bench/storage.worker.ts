import { readFile } from 'node:fs/promises'
import { openLowdbStore } from '../../daemon/store/lowdb/open.ts'
import { GOING_ON } from './child.ts'
import { buyerOf, jobs, preload, purchase, purchaseCollections, readIndexes } from './purchase.ts'
import { quantile } from './report.ts'

/** What a measuring process is started for. */
export type Job =
  /** Fills a store, then answers questions about its commit rate. */
  | { readonly do: 'commit'; readonly dir: string; readonly records: number; readonly rows?: 'level' }
  /** Fills a store, folds it into a snapshot, leaves some of it in the journal, and ends. */
  | { readonly do: 'fill'; readonly dir: string; readonly records: number }
  /** Opens that store with all its indexes. */
  | { readonly do: 'open'; readonly dir: string }
  /** Makes purchases in a store with its rows in LevelDB, and stops it. */
  | { readonly do: 'grow'; readonly dir: string; readonly purchases: number }
  /** Opens that store and reads pages of old jobs. */
  | { readonly do: 'look'; readonly dir: string }
  /** JSON.parse of the same bytes as one array, as lowdb itself would read them. */
  | { readonly do: 'parse'; readonly file: string }

export type Ask = { readonly writers: number; readonly ms: number }
/** Transactions a second, and the middle time of one, milliseconds. */
export type Rate = { readonly perSecond: number; readonly medianMs: number }

/** What a fresh process needed; the time of a page is NaN where there is none. */
export type Look = { readonly cpuMs: number; readonly anonMb: number; readonly pageP99Ms: number }

const MILLISECONDS_A_SECOND = 1_000
const MICROSECONDS_A_MILLISECOND = 1_000
const KB_A_MB = 1_000
const GROWING_WRITERS = 64
const PURCHASES_A_WORD = 10_000
const PAGES = 500
const PAGE_ROWS = 20
const P99 = 0.99
/** Part of the records that recovery finds in the journal instead of the snapshot. */
const JOURNAL_SHARE = 0.1
const FIRST_MEASURED = 100_000_000
/** The journal is never folded while a rate is taken. */
const NO_COMPACTION_BYTES = Number.POSITIVE_INFINITY

function open(dir: string, rows?: 'level') {
  return openLowdbStore({
    dir,
    collections: purchaseCollections,
    now: Date.now,
    ...(rows === 'level' ? { levelFrom: 0 } : { compactAboveBytes: NO_COMPACTION_BYTES }),
    onFatal: (error) => {
      throw error
    },
  })
}

function reply(message: unknown): void {
  process.send?.(message)
}

async function commit(dir: string, records: number, rows?: 'level'): Promise<void> {
  const store = await open(dir, rows)
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
    return { perSecond: times.length / seconds, medianMs: quantile(times, 0.5) }
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

async function grow(dir: string, purchases: number): Promise<void> {
  const store = await open(dir, 'level')
  let next = 0
  const buy = async (): Promise<void> => {
    while (next < purchases) {
      const n = next
      next += 1
      if (next % PURCHASES_A_WORD === 0) reply(GOING_ON)
      await store.tx((t) => purchase(t, n))
    }
  }
  await Promise.all(Array.from({ length: GROWING_WRITERS }, buy))
  await store.close()
  reply({ purchases })
}

async function look(dir: string): Promise<void> {
  const store = await open(dir, 'level')
  const { user, system } = process.cpuUsage()
  const times: number[] = []
  for (let n = 0; n < PAGES && store.stats().records > 0; n += 1) {
    const began = performance.now()
    await store.table(jobs).page('buyer', [buyerOf(n)], { limit: PAGE_ROWS })
    times.push(performance.now() - began)
  }
  const pageP99Ms = quantile(times, P99)
  reply({ cpuMs: (user + system) / MICROSECONDS_A_MILLISECOND, anonMb: await anonymousMb(), pageP99Ms } satisfies Look)
  await store.close()
}

/** Memory that no file backs: LevelDB maps its files, and the system takes their pages back when it needs room. */
async function anonymousMb(): Promise<number> {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1]
  return Number(kilobytes) / KB_A_MB
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
  if (job.do === 'commit') await commit(job.dir, job.records, job.rows)
  else if (job.do === 'grow') await grow(job.dir, job.purchases)
  else if (job.do === 'look') await look(job.dir)
  else if (job.do === 'fill') await fill(job.dir, job.records)
  else if (job.do === 'open') await timed(() => openWhole(job.dir))
  else await timed(async () => JSON.parse(await readFile(job.file, 'utf8')))
  if (job.do !== 'commit') process.disconnect()
}

main(JSON.parse(process.argv[2] ?? 'null') as Job).catch(fail)
