import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { services } from '../../daemon/features/listings/rows.ts'
import { createDaemon, type Daemon } from '../../daemon/index.ts'
import { commit } from '../../daemon/store/draw.ts'
import type { PgStore } from '../../daemon/store/postgres/open.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { startPostgres, type TestServer } from '../../fixtures/kit/postgres.ts'
import { buy, lanes, rate } from './database.ts'
import { buyerOf, jobs, preload } from './purchase.ts'
import { median, quantile, ratios } from './report.ts'

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
const LISTINGS = 100_000
const LISTINGS_A_COMMIT = 500
const BUYERS = 997

/** @param purchases how many the larger of the two stores holds */
export async function databaseGrowth(purchases: number) {
  const server = await startPostgres([])
  try {
    return { purchases, ...(await purchaseCosts(server, purchases)), ...(await catalogs(server)) }
  } finally {
    await server.stop()
  }
}

async function purchaseCosts(server: TestServer, purchases: number) {
  const [large, small] = [await filled(server, purchases), await filled(server, Math.ceil(purchases / SMALLER))]
  await server.sql('checkpoint')
  const rates = { 16: pair(), 64: pair() }
  const pages = pair()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const writers of [16, 64] as const) {
      rates[writers].large.push(await rate(writers, () => buy(large)))
      rates[writers].small.push(await rate(writers, () => buy(small)))
    }
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
const rounded = (value: number): number => Number(value.toFixed(2))

async function filled(server: TestServer, purchases: number): Promise<PgStore> {
  const [store] = await lanes(server.addressOf(`grown_${purchases}`), 1)
  if (!store) throw new Error('no lane')
  await preload(store, purchases * ROWS_A_PURCHASE)
  return store
}

/** The first jobs of a buyer: long ago. */
async function oldPage(store: PgStore, page: number): Promise<void> {
  await store.table(jobs).page('buyer', [buyerOf(page % BUYERS)], { limit: PAGE_ROWS, order: 'asc' })
}

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await act()
  return performance.now() - started
}

async function catalogs(server: TestServer) {
  const inDatabase = await catalogTimes(`postgres://souk@/postgres?host=${server.folder}&schema=catalog`)
  const inFiles = await catalogTimes()
  return {
    listings: LISTINGS,
    catalog_p50_ms: rounded(quantile(inDatabase, 0.5)),
    catalog_p99_ms: rounded(quantile(inDatabase, 0.99)),
    catalog_p50_ratio: rounded(quantile(inDatabase, 0.5) / quantile(inFiles, 0.5)),
  }
}

/** Pages of a catalog that nobody asked for before. */
async function catalogTimes(store?: string): Promise<number[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const config = { dataDir, ...configDefaults, durability: 'full' as const, ...(store === undefined ? {} : { store }) }
  try {
    const empty = await createDaemon(config)
    await list(empty)
    await empty.stop()
    const daemon = await createDaemon(config)
    const page = (offset: number) => fetch(`${daemon.url}/v1/services/catalog?limit=20&offset=${offset}`)
    const { total } = (await (await page(0)).json()) as { total: number }
    if (total < LISTINGS) throw new Error(`${total} listings are shown of ${LISTINGS}`)
    const times: number[] = []
    for (let n = 1; n <= PAGES; n += 1) {
      times.push(await timeOf(async () => (await page(n * PAGE_ROWS)).arrayBuffer()))
    }
    await daemon.stop()
    return times
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function list({ ctx }: Daemon): Promise<void> {
  const [sample] = (await ctx.store.table(services).page('status', ['active'], { limit: 1 })).rows
  if (!sample) throw new Error('no listing is active')
  for (let from = 0; from < LISTINGS; from += LISTINGS_A_COMMIT) {
    await commit(ctx, async (t) => {
      for (let n = from; n < from + LISTINGS_A_COMMIT; n += 1) {
        const id = `svc_${n.toString(16).padStart(16, '0')}`
        await t.table(services).insert({ ...sample, id, first_party_slug: null, name: `Listing ${n}` })
      }
    })
  }
}
