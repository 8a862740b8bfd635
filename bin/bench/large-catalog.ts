import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCollections } from '../../daemon/app.ts'
import { openStore } from '../../daemon/features/backup/open-store.ts'
import { services } from '../../daemon/features/listings/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import { participants } from '../../daemon/kernel/rows.ts'
import { systemClock } from '../../daemon/ports/clock.ts'
import { openLog } from '../../daemon/ports/log.ts'
import type { Store } from '../../daemon/store/port.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import type { TestServer } from '../../fixtures/kit/postgres.ts'
import { participantDraft } from '../../fixtures/kit/rows.ts'
import { quantile, rounded, type Say, timeOf } from './report.ts'

/* Pages of a large catalog that nobody asked for before, in a database and in files, and a start that has to derive it. */

const LISTINGS = Number(process.env.SOUK_BENCH_LISTINGS ?? 100_000)
const LISTINGS_A_PROVIDER = 20
const LISTINGS_A_COMMIT = 500
const LISTINGS_A_REPORT = 10_000
/** Seeding needs no disk but the real one, and a store that stops fails it anyway. */
const NOTHING = { disk: undefined, onFatal: undefined }
const log = openLog({ level: 'error' })
const PAGES = 500
const PAGE_ROWS = 20
const MILLISECONDS_A_SECOND = 1_000

export async function largeCatalogs({ server, say }: { readonly server: TestServer; readonly say: Say }) {
  const database = `postgres://souk@/postgres?host=${server.folder}&schema=catalog`
  const inDatabase = await catalogTimes({ place: 'database', store: database }, say)
  const inFiles = await catalogTimes({ place: 'files' }, say)
  const pages = (share: number) => rounded(quantile(inDatabase.pages, share))
  return {
    listings: LISTINGS,
    catalog_p50_ms: pages(0.5),
    catalog_p99_ms: pages(0.99),
    catalog_p50_ratio: rounded(pages(0.5) / quantile(inFiles.pages, 0.5)),
    start_s: inDatabase.startSeconds,
    start_s_files: inFiles.startSeconds,
  }
}

async function catalogTimes({ place, ...store }: { place: string; store?: string }, say: Say) {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const config = { dataDir, ...configDefaults, durability: 'full' as const, ...store }
  try {
    await (await createDaemon(config)).stop()
    const store = await openStore({ config, collections: allCollections, machine: systemClock, log, ...NOTHING })
    await list(store, (done) => say(`${done} of ${LISTINGS} listings in ${place}`))
    await store.close()
    const started = performance.now()
    const daemon = await createDaemon(config)
    const startSeconds = rounded((performance.now() - started) / MILLISECONDS_A_SECOND)
    say(`opened in ${startSeconds} s, ${place}`)
    const page = (offset: number) => fetch(`${daemon.url}/v1/services/catalog?limit=${PAGE_ROWS}&offset=${offset}`)
    const { total } = (await (await page(0)).json()) as { total: number }
    if (total < LISTINGS) throw new Error(`${total} listings are shown of ${LISTINGS}`)
    const pages: number[] = []
    for (let n = 1; n <= PAGES; n += 1)
      pages.push(await timeOf(async () => (await page((n * PAGE_ROWS) % LISTINGS)).arrayBuffer()))
    say(`${PAGES} pages, ${place}`)
    await daemon.stop()
    return { pages, startSeconds }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Written while no daemon runs, so that the next one has to derive the catalog, as at a new machine. */
async function list(store: Store, watch: (done: number) => void): Promise<void> {
  const [sample] = (await store.table(services).page('status', ['active'], { limit: 1 })).rows
  if (!sample) throw new Error('no listing is active')
  for (let from = 0; from < LISTINGS; from += LISTINGS_A_COMMIT) {
    const drafts = Array.from({ length: Math.min(LISTINGS_A_COMMIT, LISTINGS - from) }, (_, at) => {
      const n = from + at
      const provider = participantDraft(Math.floor(n / LISTINGS_A_PROVIDER))
      const id = `svc_${n.toString(16).padStart(16, '0')}`
      return { ...sample, id, provider_id: provider.id, first_party_slug: null, name: `Listing ${n}` }
    })
    const providers = new Map(
      drafts
        .map((_, at) => participantDraft(Math.floor((from + at) / LISTINGS_A_PROVIDER)))
        .map((row) => [row.id, row]),
    )
    await store.tx(async (t) => {
      // What is known to be absent is not looked for one by one.
      await t.table(participants).getMany([...providers.keys()])
      await t.table(services).getMany(drafts.map(({ id }) => id))
      for (const provider of providers.values()) await t.table(participants).insertIfAbsent(provider)
      for (const draft of drafts) await t.table(services).insert(draft)
    })
    if ((from + drafts.length) % LISTINGS_A_REPORT === 0) watch(from + drafts.length)
  }
}
