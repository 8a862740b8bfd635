import { join } from 'node:path'
import { openCrons } from '../crons/open.ts'
import { createPageCache, pageCache } from '../endpoint/page-cache.ts'
import { signInKey } from '../endpoint/sign-in.ts'
import { eventSignal, openEventSignal } from '../events/signal.ts'
import { backups, openBackups } from '../features/backup/archive.ts'
import { type Storage, storage } from '../features/backup/storage.ts'
import { openCatalogOver } from '../features/catalog/feed.ts'
import { compute } from '../features/compute/compute.ts'
import type { Engines } from '../features/first-party/service/engines.ts'
import { engineBoard, firstParty } from '../features/jobs/first-party.ts'
import { metrics, openMetrics } from '../features/operator/metrics.ts'
import { recoverPayments } from '../features/payments/recover.ts'
import { inFlight } from '../features/payments/single-flight.ts'
import { openPostingSearch, postingSearch } from '../features/postings/search.ts'
import { openCompliance } from '../features/sanctions/open.ts'
import { compliance } from '../features/sanctions/sanctions.ts'
import { openWatch, viewCounts } from '../features/stats/view-counts.ts'
import { openVendor, verificationVendor } from '../features/verification/open-vendor.ts'
import { web } from '../features/webhooks/send.ts'
import { createDeliveries, deliveryWorker } from '../features/webhooks/worker.ts'
import { background } from '../kernel/background.ts'
import type { Context } from '../kernel/context.ts'
import { type Installation, installation } from '../kernel/identity.ts'
import { shortLived } from '../kernel/short-lived.ts'
import { openTally, tally } from '../kernel/tally.ts'
import type { MovableClock } from '../ports/clock.ts'
import { openBoard } from '../ports/engine.ts'
import type { LowdbStore } from '../store/lowdb/open.ts'
import { allCrons } from './crons.ts'
import { deliveryHooks } from './delivery-hooks.ts'
import { handlers } from './handlers.ts'
import { enginesOf, firstPartyOver, openThreads, webOf } from './outgoing.ts'
import type { Ports } from './ports.ts'

const MAX_CACHED_PAGES = 500
/** Bytes of the secret under challenges to sign in. */
const SIGN_IN_KEY_BYTES = 32

/** What only whoever starts the daemon knows. */
type Outside = {
  readonly ports: Ports
  readonly installation: Installation
  readonly storage: Storage
  readonly backup: LowdbStore['backup']
  readonly clock: MovableClock
}

/** Opens what the features keep open, in this order; a stop closes it in the reverse. */
export async function openResources(ctx: Context, outside: Outside): Promise<void> {
  const { ports } = outside
  installation.open(ctx, outside.installation)
  storage.open(ctx, outside.storage)
  backups.open(ctx, await openBackups({ dataDir: ctx.config.dataDir, backup: outside.backup }))
  signInKey.open(ctx, ctx.entropy(SIGN_IN_KEY_BYTES))
  inFlight.open(ctx, shortLived())
  openThreads(ctx, ports.threads)
  pageCache.open(ctx, createPageCache(MAX_CACHED_PAGES))
  await openSearches(ctx)
  openWatchers(ctx)
  openBackground(ctx)
  await openCounts(ctx)
  await openOthers(ctx, ports)
  const { clock } = outside
  await openCrons(ctx, {
    clock,
    crons: ports.crons ?? allCrons,
    finishPayments: () => recoverPayments(ctx, handlers),
  })
}

async function openSearches(ctx: Context): Promise<void> {
  const { store, config, log } = ctx
  const requests = await openPostingSearch({
    store,
    path: join(config.dataDir, 'postings.db'),
    onFault: (error) => log.error({ source: 'postings', err: String(error) }, 'the list of requests is made anew'),
  })
  postingSearch.open(ctx, requests, requests.close)
  await openCatalogOver(ctx)
}

function openWatchers(ctx: Context): void {
  const { store, stopping } = ctx
  const counters = openMetrics(store)
  metrics.open(ctx, counters, counters.close)
  eventSignal.open(ctx, openEventSignal(store, stopping))
}

function openBackground(ctx: Context): void {
  const under = background.open(ctx, new Set(), async () => void (await Promise.all(under)))
}

/** What is counted in memory is saved before the store closes. */
async function openCounts(ctx: Context): Promise<void> {
  const refusals = await openTally(ctx)
  tally.open(ctx, refusals, refusals.save)
  const views = openWatch(ctx)
  viewCounts.open(ctx, views, views.save)
}

/** What reaches out to others, or stands for them. */
async function openOthers(ctx: Context, ports: Ports): Promise<void> {
  const { store, config, chain, clock, entropy, log } = ctx
  const fetcher = web.open(ctx, webOf(ctx, ports.web))
  verificationVendor.open(ctx, ports.vendor ?? (await openVendor(ctx)))
  compliance.open(ctx, await openCompliance({ store, config, web: fetcher, chain, isSanctioned: ports.isSanctioned }))
  const engines = openBoard<Engines>({
    ...enginesOf({ web: fetcher, wall: clock.wall, config: config.engines ?? {} }),
    ...ports.engines,
  })
  engineBoard.open(ctx, engines, engines.close)
  const services = firstPartyOver({ web: fetcher, threads: compute.of(ctx), engines, wall: clock.wall })
  firstParty.open(ctx, ports.firstParty ?? services)
  const worker = createDeliveries({ store, clock, entropy, log, web: fetcher, hooks: deliveryHooks(ctx) })
  deliveryWorker.open(ctx, worker, worker.stop)
}

/** Makes what is counted in memory durable. */
export async function saveCounts(ctx: Context): Promise<void> {
  await tally.of(ctx).save()
  await viewCounts.of(ctx).save()
}
