import type { PgStore } from '../../daemon/store/postgres/open.ts'
import { startPostgres, type TestServer } from '../../fixtures/kit/postgres.ts'
import { buy, lanes, rate } from './database.ts'
import { largeCatalogs } from './large-catalog.ts'
import { buyerOf, jobs, preload } from './purchase.ts'
import { median, quantile, ratios, rounded, type Say, timeOf } from './report.ts'
import { storeCopies } from './store-copy.ts'

/*
 * What a store in PostgreSQL costs that holds much: a purchase and a page of old jobs beside a store of a tenth of the
 * purchases, in turns, and pages of a large catalog beside those of the same catalog in files.
 */

const SMALLER = 10
const ROUNDS = 6
/** As a purchase makes about three rows that stay. */
const ROWS_A_PURCHASE = 3
const PAGES = 500
const PAGE_ROWS = 20
const BUYERS = 997
const MILLISECONDS_A_SECOND = 1_000
/** Stores are filled as they would be over months: without a checkpoint for every few seconds of it. */
const FILLING = ['-c', 'max_wal_size=4GB', '-c', 'checkpoint_timeout=30min']

const parts = { purchases: purchaseCosts, catalog: largeCatalogs, copy: storeCopies }

/**
 * @param purchases how many the larger of the two stores holds
 * @param only the one part that is measured (default: all)
 */
export async function databaseGrowth(purchases: number, only?: string) {
  const wanted = Object.entries(parts).filter(([name]) => only === undefined || name === only)
  if (wanted.length === 0) throw new Error(`--only: one of ${Object.keys(parts).join(', ')}`)
  const server = await startPostgres(FILLING)
  const figures = { purchases }
  try {
    for (const [name, measure] of wanted)
      Object.assign(figures, await measure({ server, purchases, say: saying(name) }))
    return figures
  } finally {
    await server.stop()
  }
}

/** Says how far a part is, with the seconds since it began. */
function saying(part: string): Say {
  const started = performance.now()
  return (progress) => {
    const seconds = Math.round((performance.now() - started) / MILLISECONDS_A_SECOND)
    process.stderr.write(`${part}: ${progress}, ${seconds} s\n`)
  }
}

type Part = { readonly server: TestServer; readonly purchases: number; readonly say: Say }

async function purchaseCosts({ server, purchases, say }: Part) {
  const fill = (count: number) => filled(server, count, say)
  const [large, small] = [await fill(purchases), await fill(Math.ceil(purchases / SMALLER))]
  await server.sql('checkpoint')
  const rates = { 16: pair(), 64: pair() }
  const pages = pair()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const writers of [16, 64] as const) {
      rates[writers].large.push(await rate(writers, () => buy(large)))
      rates[writers].small.push(await rate(writers, () => buy(small)))
    }
    say(`round ${round + 1} of ${ROUNDS}`)
  }
  for (let page = 0; page < PAGES; page += 1) {
    pages.large.push(await timeOf(() => oldPage(large, page)))
    pages.small.push(await timeOf(() => oldPage(small, page)))
  }
  for (const store of [large, small]) await store.close()
  return {
    cost_ratio_16: rounded(median(ratios(rates[16].small, rates[16].large))),
    cost_ratio_64: rounded(median(ratios(rates[64].small, rates[64].large))),
    page_p50_ms: rounded(quantile(pages.large, 0.5)),
    page_p99_ms: rounded(quantile(pages.large, 0.99)),
    page_p50_ratio: rounded(quantile(pages.large, 0.5) / quantile(pages.small, 0.5)),
  }
}

const pair = () => ({ large: [] as number[], small: [] as number[] })

async function filled(server: TestServer, purchases: number, say: Say): Promise<PgStore> {
  const [store] = await lanes(server.addressOf(`grown_${purchases}`), 1)
  if (!store) throw new Error('no lane')
  await preload(store, purchases * ROWS_A_PURCHASE, (done) => say(`${done} of ${purchases}`))
  return store
}

/** The first jobs of a buyer: long ago. */
async function oldPage(store: PgStore, page: number): Promise<void> {
  await store.table(jobs).page('buyer', [buyerOf(page % BUYERS)], { limit: PAGE_ROWS, order: 'asc' })
}
