import type { Api } from '../src/api/index.ts'
import { clockRoutes } from './crons/clock-routes.ts'
import type { Cron } from './crons/cron.ts'
import { cronsRoutes } from './crons/routes.ts'
import { cronCollections } from './crons/rows.ts'
import { openCrons } from './crons/timeline.ts'
import { openSignInKey } from './endpoint/caller.ts'
import { endpointCollections } from './endpoint/once.ts'
import { createPageCache, pageCache } from './endpoint/page-cache.ts'
import { openEngines } from './engines/engines.ts'
import { openFirstParty } from './engines/open-first-party.ts'
import { openThreads } from './engines/schemas.ts'
import { eventsRead, eventsRoutes } from './events/own.ts'
import { eventCollections } from './events/rows.ts'
import { eventSignal, openEventSignal } from './events/signal.ts'
import { attentionCollections } from './features/attention/alarm-rows.ts'
import { openAlarms } from './features/attention/alarms.ts'
import { attentionOf, attentionRoutes } from './features/attention/routes.ts'
import { auditRoutes } from './features/audit/routes.ts'
import { backups, noteBackup, openBackups } from './features/backup/archive.ts'
import { storage } from './features/backup/storage.ts'
import { catalogAdminRoutes } from './features/catalog/admin-routes.ts'
import { openCatalogOver } from './features/catalog/feed.ts'
import { listingRoutes } from './features/catalog/listing-routes.ts'
import { catalogRoutes } from './features/catalog/routes.ts'
import { serviceTestRoutes } from './features/catalog/test-endpoint.ts'
import { discoverRoutes } from './features/discovery/discover.ts'
import { docsRoutes } from './features/discovery/docs.ts'
import { discoveryRoutes } from './features/discovery/routes.ts'
import { openContract } from './features/escrow/open.ts'
import { escrowCollections } from './features/escrow/rows.ts'
import { exportRoutes } from './features/export/export.ts'
import { facilitatorAdminRoutes } from './features/facilitator/admin-routes.ts'
import { openSettlements } from './features/facilitator/hand.ts'
import { countingRequests, facilitatorCounts, facilitatorRoutes } from './features/facilitator/routes.ts'
import { facilitatorCollections } from './features/facilitator/rows.ts'
import { callFigures, openCallFigures } from './features/figures/calls.ts'
import { openMoneyOf } from './features/figures/money.ts'
import { openRollupOf, rollup } from './features/figures/rollup.ts'
import { figuresRoutes } from './features/figures/routes.ts'
import { figuresCollections } from './features/figures/rows.ts'
import { jobActionRoutes } from './features/jobs/action-routes.ts'
import { escrowMoved } from './features/jobs/apply.ts'
import { dispatchAnswers, isDispatchWanted } from './features/jobs/dispatch-answer.ts'
import { openDeadlineWatch } from './features/jobs/downtime.ts'
import { escrowMonitor, followContract } from './features/jobs/escrow-monitor.ts'
import { jobRoutes } from './features/jobs/routes.ts'
import { jobCollections } from './features/jobs/rows.ts'
import { ledgerCollections } from './features/ledger/rows.ts'
import { listingCollections } from './features/listings/rows.ts'
import { threadActionRoutes } from './features/negotiation/action-routes.ts'
import { threadFileRoutes } from './features/negotiation/file-routes.ts'
import { negotiationRoutes, threadRoutes } from './features/negotiation/routes.ts'
import { chainRoutes } from './features/operator/chain-routes.ts'
import { healthRoutes } from './features/operator/health.ts'
import { housekeeping } from './features/operator/housekeeping.ts'
import { rulingRoutes } from './features/operator/job-routes.ts'
import { openKeyRotation } from './features/operator/key-rotation.ts'
import { metrics, openMetrics } from './features/operator/metrics.ts'
import { platformRoutes } from './features/operator/platform-routes.ts'
import { engineRoutes, operatorRoutes } from './features/operator/routes.ts'
import { houseThreadRoutes } from './features/operator/thread-routes.ts'
import { participantAdminRoutes } from './features/participants/admin-routes.ts'
import { profileRoutes } from './features/participants/profile-routes.ts'
import { participantRoutes } from './features/participants/routes.ts'
import { termsRoutes } from './features/participants/terms.ts'
import { autoRefund } from './features/payments/auto-refund.ts'
import { balanceRoutes } from './features/payments/balance.ts'
import { openProofs } from './features/payments/proofs.ts'
import { countingUnpaid, followReversals, unpaidAttempts } from './features/payments/reversed.ts'
import { paymentCollections } from './features/payments/rows.ts'
import { type Handlers, sellers } from './features/payments/seller.ts'
import { inFlight } from './features/payments/single-flight.ts'
import { coldSweep } from './features/payouts/cold-sweep.ts'
import { reviewKept } from './features/payouts/payouts.ts'
import { providerSettlement } from './features/payouts/provider-settlement.ts'
import { payoutCollections } from './features/payouts/rows.ts'
import { splitterDistribute } from './features/payouts/splitter-distribute.ts'
import { bidRoutes } from './features/postings/bid-routes.ts'
import { followJob } from './features/postings/close.ts'
import { isNoticeWanted, noticeEnded, postingNotifyRetries } from './features/postings/posting-notify-retries.ts'
import { postingRoutes } from './features/postings/routes.ts'
import { postingCollections } from './features/postings/rows.ts'
import { openPostingSearchOf } from './features/postings/search.ts'
import { productRoutes } from './features/products/routes.ts'
import { productCollections } from './features/products/rows.ts'
import { productSaleRoutes } from './features/products/sale-routes.ts'
import { referralRewards } from './features/referrals/referral-rewards.ts'
import { referralRoutes } from './features/referrals/routes.ts'
import { reputation } from './features/reputation/reputation.ts'
import { reputationRoutes } from './features/reputation/routes.ts'
import { reputationCollections } from './features/reputation/rows.ts'
import { earningsRoutes } from './features/sales/earnings.ts'
import { namedServiceRoutes } from './features/sales/named-routes.ts'
import { openSoldOf, payeeRoutes } from './features/sales/payees.ts'
import { saleRoutes } from './features/sales/routes.ts'
import { ofacSdnRefresh } from './features/sanctions/ofac-sdn-refresh.ts'
import { openCompliance } from './features/sanctions/open.ts'
import { sanctionRoutes } from './features/sanctions/routes.ts'
import { sanctionCollections } from './features/sanctions/rows.ts'
import { walletCleared } from './features/sanctions/sanctions.ts'
import { openWatch, statsCollections, statsRoutes, viewCounts } from './features/stats/routes.ts'
import { statsSnapshot } from './features/stats/stats-snapshot.ts'
import { openRequestLog, requestLog } from './features/story/requests.ts'
import { storyRoutes } from './features/story/routes.ts'
import { planRoutes } from './features/subscriptions/plan-routes.ts'
import { subscriptionRoutes } from './features/subscriptions/routes.ts'
import { subscriptionCollections } from './features/subscriptions/rows.ts'
import { subscriptions } from './features/subscriptions/subscriptions.ts'
import { testMoneyRoutes } from './features/test-money/faucet.ts'
import { testMoneyCollections } from './features/test-money/rows.ts'
import { threadCollections } from './features/threads/rows.ts'
import { traceRoutes } from './features/traces/routes.ts'
import { traceCollections } from './features/traces/rows.ts'
import { openVendor, verificationRoutes, verificationVendor } from './features/verification/routes.ts'
import { verificationCollections } from './features/verification/rows.ts'
import { readsOwnHeader } from './features/webhooks/own-header.ts'
import { webhookRoutes } from './features/webhooks/routes.ts'
import { webhookCollections } from './features/webhooks/rows.ts'
import { notePoll, webhookProbes } from './features/webhooks/webhook-probes.ts'
import { createDeliveries, type DeliveryHooks, deliveryWorker } from './features/webhooks/worker.ts'
import { background, type Context } from './kernel/context.ts'
import { hashSecret, installation } from './kernel/identity.ts'
import { kernelCollections } from './kernel/rows.ts'
import { shortLived } from './kernel/short-lived.ts'
import { openTally, tally } from './kernel/tally.ts'
import { openWebOf, web } from './kernel/web.ts'
import { collectWrongTokens, wrongTokens } from './kernel/wrong-tokens.ts'
import type { Outside } from './outside.ts'
import { evmCollections } from './ports/chain/evm/start/rows.ts'
import { openKey } from './ports/chain/key.ts'
import { sandboxCollections } from './ports/chain/sandbox/ledger.ts'
import type { AnyCollection } from './store/port.ts'

const MAX_CACHED_PAGES = 500

/*
 * One entry per feature. The types require a handler for every endpoint of the contract. Each feature's folder declares
 * its collections and crons.
 */

type Part = {
  readonly collections?: readonly AnyCollection[]
  readonly routes?: object
  /** Registers its hooks. */
  readonly follow?: () => void
  /** Opens the feature's resources, which live as long as the daemon. */
  readonly open?: (ctx: Context, outside: Outside) => Promise<void> | void
}

/**
 * Lowest layer first: a feature imports only features listed before it, whose resources are already open. A stop closes
 * resources in reverse order.
 */
const parts = {
  'first-party': {},
  kernel: { collections: kernelCollections, open: openKernel },
  engines: {
    open(ctx, { ports }) {
      openThreads(ctx, ports.threads)
      openEngines(ctx, ports.engines)
      openFirstParty(ctx, ports.firstParty)
    },
  },
  endpoint: { collections: endpointCollections, open: openEndpoint },
  events: {
    collections: eventCollections,
    routes: eventsRoutes,
    open: (ctx) => void eventSignal.open(ctx, openEventSignal(ctx.store, ctx.stopping)),
  },
  traces: { collections: traceCollections, routes: traceRoutes },
  crons: { collections: cronCollections, routes: { ...cronsRoutes, ...clockRoutes } },
  sanctions: {
    collections: sanctionCollections,
    routes: sanctionRoutes,
    open: (ctx, { ports }) => openCompliance(ctx, ports.isSanctioned),
  },
  ledger: { collections: ledgerCollections },
  escrow: { collections: escrowCollections, open: openContract },
  verification: {
    collections: verificationCollections,
    routes: verificationRoutes,
    open: async (ctx, { ports }) => void verificationVendor.open(ctx, ports.vendor ?? (await openVendor(ctx))),
  },
  stats: {
    collections: statsCollections,
    routes: statsRoutes,
    open(ctx) {
      const views = openWatch(ctx)
      viewCounts.open(ctx, views, views.save)
    },
  },
  'test-money': { collections: testMoneyCollections, routes: testMoneyRoutes },
  payouts: { collections: payoutCollections, follow: () => walletCleared.follow(reviewKept) },
  listings: { collections: listingCollections },
  payments: {
    collections: paymentCollections,
    routes: balanceRoutes,
    open(ctx) {
      inFlight.open(ctx, shortLived())
      unpaidAttempts.open(ctx, countingUnpaid())
      sellers.open(ctx, handlers)
    },
  },
  webhooks: { collections: webhookCollections, routes: webhookRoutes, follow: () => eventsRead.follow(notePoll) },
  referrals: { routes: referralRoutes },
  products: { collections: productCollections, routes: { ...productRoutes, ...productSaleRoutes } },
  threads: { collections: threadCollections },
  subscriptions: { collections: subscriptionCollections, routes: { ...planRoutes, ...subscriptionRoutes } },
  jobs: {
    collections: jobCollections,
    routes: { ...jobRoutes, ...jobActionRoutes },
    follow: followContract,
    open: openDeadlineWatch,
  },
  sales: { routes: { ...saleRoutes, ...namedServiceRoutes, ...earningsRoutes, ...payeeRoutes } },
  postings: {
    collections: postingCollections,
    routes: { ...postingRoutes, ...bidRoutes },
    follow: () => escrowMoved.follow(followJob),
    open: openPostingSearchOf,
  },
  negotiation: { routes: { ...negotiationRoutes, ...threadRoutes, ...threadActionRoutes, ...threadFileRoutes } },
  reputation: { collections: reputationCollections, routes: reputationRoutes },
  audit: { routes: auditRoutes },
  catalog: {
    routes: { ...catalogRoutes, ...catalogAdminRoutes, ...listingRoutes, ...serviceTestRoutes },
    open: openCatalogOver,
  },
  backup: { open: openBackup },
  attention: {
    collections: attentionCollections,
    routes: attentionRoutes,
    open: (ctx) => openAlarms(ctx, (from) => attentionOf(from, from.clock.now())),
  },
  figures: {
    collections: figuresCollections,
    routes: figuresRoutes,
    open(ctx) {
      callFigures.open(ctx, openCallFigures(ctx.clock.wall, new Set(Object.keys(handlers))))
      openRollupOf(ctx)
      openMoneyOf(ctx)
      openSoldOf(ctx)
    },
  },
  story: { routes: storyRoutes, open: (ctx) => void requestLog.open(ctx, openRequestLog(ctx.clock.wall)) },
  participants: { routes: { ...participantRoutes, ...profileRoutes, ...termsRoutes, ...participantAdminRoutes } },
  discovery: { routes: { ...discoveryRoutes, ...discoverRoutes, ...docsRoutes } },
  facilitator: {
    collections: facilitatorCollections,
    routes: { ...facilitatorRoutes, ...facilitatorAdminRoutes },
    open(ctx) {
      openSettlements(ctx)
      facilitatorCounts.open(ctx, countingRequests())
      wrongTokens.open(ctx, collectWrongTokens(ctx.log))
    },
  },
  operator: {
    routes: {
      ...operatorRoutes,
      ...platformRoutes,
      ...healthRoutes,
      ...engineRoutes,
      ...chainRoutes,
      ...rulingRoutes,
      ...houseThreadRoutes,
    },
    open(ctx) {
      openKeyRotation(ctx)
      const counters = openMetrics(ctx, facilitatorCounts.of(ctx))
      metrics.open(ctx, counters, counters.close)
    },
  },
  export: { routes: exportRoutes },
} satisfies Record<string, Part>

/** All crons, in the order of `/health`. Crons that are due at the same time start in this order. */
export const allCrons: readonly Cron[] = [
  escrowMonitor,
  autoRefund,
  postingNotifyRetries,
  subscriptions,
  reputation,
  referralRewards,
  providerSettlement,
  splitterDistribute,
  coldSweep,
  ofacSdnRefresh,
  housekeeping,
  statsSnapshot,
  webhookProbes,
]

const contents: readonly (readonly [string, Part])[] = Object.entries(parts)

/** Feature names, lowest layer first. */
export const partNames: readonly string[] = contents.map(([name]) => name)

/** All collections except those of the chains. */
export const collections: readonly AnyCollection[] = contents.flatMap(([, part]) => part.collections ?? [])

/** All collections of stores on disk, chains included. */
export const allCollections: readonly AnyCollection[] = [...collections, ...sandboxCollections, ...evmCollections]

type RoutesOf<P> = P extends { readonly routes: infer R } ? R : never
type Together<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

const routes: Together<RoutesOf<(typeof parts)[keyof typeof parts]>> = Object.assign(
  {},
  ...contents.map(([, part]) => part.routes),
)

/** All handlers; a missing one does not compile. */
export const handlers: Handlers<Api> = routes

for (const [, part] of contents) part.follow?.()

/** Effects of webhook deliveries on jobs and posted requests (decisions §10). */
const deliveryHooks = (ctx: Context): DeliveryHooks => ({
  isWanted: async (t, row) => (await isDispatchWanted(t, row)) && isNoticeWanted(t, row),
  onTaken: dispatchAnswers(ctx),
  onEnded: (t, draw, delivery) => noticeEnded(t, draw, { delivery, now: delivery.at }),
})

/**
 * Opens all resources. Resources that start work by themselves open last and so stop first, while everything that they
 * use is still open. Deliveries and crons are such resources. Crons open after deliveries, because crons create
 * deliveries.
 */
export async function openResources(ctx: Context, outside: Outside): Promise<void> {
  for (const [, part] of contents) await part.open?.(ctx, outside)
  const under = background.open(ctx, new Set(), async () => void (await Promise.all(under)))
  followReversals(ctx)
  const worker = createDeliveries({
    ...ctx,
    web: web.of(ctx),
    hooks: deliveryHooks(ctx),
    ownHeaderOf: readsOwnHeader(ctx),
  })
  deliveryWorker.open(ctx, worker, worker.stop)
  await openCrons(ctx, { clock: outside.clock, crons: outside.ports.crons ?? allCrons })
}

async function openKernel(ctx: Context, outside: Outside): Promise<void> {
  installation.open(ctx, outside.installation)
  openWebOf(ctx, outside.ports.web)
  const refusals = await openTally(ctx)
  tally.open(ctx, refusals, refusals.save)
}

function openEndpoint(ctx: Context): void {
  openSignInKey(ctx)
  openProofs(ctx, () => openKey(hashSecret(`offers ${installation.of(ctx).sealingSecret}`)))
  pageCache.open(ctx, createPageCache(MAX_CACHED_PAGES))
}

async function openBackup(ctx: Context, outside: Outside): Promise<void> {
  storage.open(ctx, outside.storage)
  const note = () => noteBackup(ctx, ctx.clock.now())
  // A backup is made even while no node answers. A restore then compares more of the chain.
  const prepare = async () => ctx.chain.noteSeen?.().catch(() => undefined)
  backups.open(ctx, await openBackups({ dataDir: ctx.config.dataDir, backup: outside.backup, prepare, note }))
}

export async function saveCounts(ctx: Context): Promise<void> {
  await tally.of(ctx).save()
  await viewCounts.of(ctx).save()
  await rollup.of(ctx).save()
}
