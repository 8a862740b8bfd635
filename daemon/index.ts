import './app/hooks.ts'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import type { Entropy } from '../src/core/entropy.ts'
import { AppError } from '../src/core/error.ts'
import { collections } from './app/collections.ts'
import { allCrons } from './app/crons.ts'
import { handlers } from './app/handlers.ts'
import { openOutgoing, type WebChange } from './app/outgoing.ts'
import { readClockSetting } from './crons/clock-setting.ts'
import type { Cron } from './crons/cron.ts'
import { openCrons } from './crons/open.ts'
import { createPageCache } from './endpoint/page-cache.ts'
import { openEventBell } from './events/signal.ts'
import { openBackups, withUnpacked } from './features/backup/archive.ts'
import { openStore } from './features/backup/open-store.ts'
import { clearFolder, dropReplaced, replaceStore, STORE_FOLDER, undoHalfReplaced } from './features/backup/replace.ts'
import { cutSentence, diskFull, storageOf } from './features/backup/storage.ts'
import { closeCatalog, followChanges, openCatalogOf } from './features/catalog/feed.ts'
import type { ThreadsChange } from './features/compute/compute.ts'
import { startHouse } from './features/jobs/first-party.ts'
import { openFlags } from './features/operator/follow-switches.ts'
import { openMetrics } from './features/operator/metrics.ts'
import { seedStore } from './features/operator/seed.ts'
import { recoverPayments } from './features/payments/recover.ts'
import { payments } from './features/payments/rows.ts'
import { runPayouts } from './features/payouts/payouts.ts'
import { payeeFault } from './features/payouts/shares.ts'
import { openPostingSearch } from './features/postings/search.ts'
import { loadFirstList, openCompliance } from './features/sanctions/open.ts'
import { openWatch } from './features/stats/view-counts.ts'
import { openVendor } from './features/verification/open-vendor.ts'
import { DRAIN_MS } from './http/limits.ts'
import { createEdge } from './http/server.ts'
import { inBackground } from './kernel/background.ts'
import { boundUrl } from './kernel/bound-url.ts'
import type { Config } from './kernel/config.ts'
import type { Context } from './kernel/context.ts'
import { openIdentity } from './kernel/identity.ts'
import { createTurns } from './kernel/keyed-mutex.ts'
import { shortLived } from './kernel/short-lived.ts'
import { openTally } from './kernel/tally.ts'
import { type ChainPort, isTestMoney } from './ports/chain/chain.ts'
import { openSandboxChain } from './ports/chain/sandbox/chain.ts'
import { sandboxCollections } from './ports/chain/sandbox/ledger.ts'
import { openRecover } from './ports/chain/signature.ts'
import { type Clock, type MovableClock, movableClock, systemClock, UNMOVED } from './ports/clock.ts'
import { systemEntropy } from './ports/entropy.ts'
import { openLog } from './ports/log.ts'
import { systemTicker, type Ticker } from './ports/ticker.ts'
import type { Disk } from './store/disk.ts'
import { StoreDamaged, StoreMisuse } from './store/errors.ts'
import { restoreStore } from './store/lowdb/backup.ts'
import { openLowdbStore } from './store/lowdb/open.ts'
import { type RepairReport, repairStore } from './store/lowdb/repair.ts'
import { type VerifyReport, verifyStore } from './store/lowdb/verify.ts'
import type { Store } from './store/port.ts'

const allCollections = [...collections, ...sandboxCollections]
const MAX_CACHED_PAGES = 500
/** Where a backup is made ready inside the folder that it is unpacked to. */
const STAGED_FOLDER = 'staged'

/** What tests and the command line may replace; the rest is real. */
export type Ports = {
  readonly clock?: Clock
  readonly entropy?: Entropy
  readonly disk?: Disk
  readonly chain?: (parts: { store: Store }) => Promise<ChainPort>
  readonly firstParty?: Context['firstParty']
  readonly isSanctioned?: Context['isSanctioned']
  readonly web?: WebChange
  /** Bounds of the threads for costly work. */
  readonly threads?: ThreadsChange
  readonly vendor?: Context['vendor']
  /** Stands before the store that was opened. */
  readonly store?: (opened: Store) => Store
  readonly crons?: readonly Cron[]
  /** What makes crons look at the clock. */
  readonly ticker?: Ticker
  readonly logTo?: NodeJS.WritableStream
  /** A failed write or sync: nothing more can be promised, the process has to end. */
  readonly onFatal?: (error: Error) => void
}

export type Daemon = {
  /** Where it listens; what it tells others is `world.baseUrl()`. */
  readonly url: string
  readonly ctx: Context
  /** What whoever started it should know: one sentence each. */
  readonly notes: readonly string[]
  /** Refuses new requests, waits for those under way, closes the store. Idempotent. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a marketplace over a data folder: recovers the store, finishes what a crash left open,
 * and only then listens.
 * @throws StoreLocked when another daemon has the folder, StoreDamaged with the repair command.
 */
export async function createDaemon(config: Config, ports: Ports = {}): Promise<Daemon> {
  const payees = config.payees && payeeFault(config.payees)
  if (payees) throw new AppError('invalid_request', `The payees of the fees cannot be used: ${payees}.`)
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
  const log = openLog({ level: config.logLevel, ...(ports.logTo ? { destination: ports.logTo } : {}) })
  const machine = ports.clock ?? systemClock
  await undoHalfReplaced(config.dataDir)
  const opened = await openStore({
    config,
    disk: ports.disk,
    onFatal: ports.onFatal,
    log,
    machine,
    collections: allCollections,
  })
  const store = ports.store?.(opened) ?? opened
  const storage = storageOf(opened)
  try {
    if (await storage.isFull()) throw diskFull(config.dataDir)
    await dropReplaced(config.dataDir)
    const backups = await openBackups({ dataDir: config.dataDir, backup: opened.backup })
    const built = await buildContext({ config, ports, store, storage, blobs: opened.blobs, backups, log, machine })
    return await listen(built, ports.ticker ?? systemTicker)
  } catch (error) {
    await store.close()
    throw error
  }
}

type Parts = {
  readonly config: Config
  readonly ports: Ports
  readonly store: Store
  readonly storage: Context['storage']
  readonly blobs: Context['blobs']
  readonly backups: Context['backups']
  readonly log: Context['log']
  /** The clock under the one that can be moved. */
  readonly machine: Clock
}

type Opened = {
  readonly ctx: Context
  readonly bind: (port: number) => void
  readonly beginStop: () => void
  readonly close: () => Promise<void>
}

async function buildContext({ config, ports, store, storage, blobs, backups, log, machine }: Parts): Promise<Opened> {
  const entropy = ports.entropy ?? systemEntropy()
  const recover = await openRecover()
  const chain = ports.chain
    ? await ports.chain({ store })
    : await openSandboxChain({ store, recover, entropy, wall: machine.wall })
  const clock = await openClock(store, chain, machine)
  const identity = await openIdentity({ store, entropy, dataDir: config.dataDir })
  const { close, ...flags } = await openFlags({ store, entropy, config, clock })
  const pages = createPageCache(MAX_CACHED_PAGES)
  const catalog = await openCatalogOf(store, join(config.dataDir, 'catalog.db'))
  const feed = followChanges({ store, catalog, pages, log })
  const postingSearch = await openPostings({ config, store, log })
  const crons = await openCrons({
    store,
    entropy,
    config,
    clock,
    crons: ports.crons ?? allCrons,
    finishPayments: () => recoverPayments(ctx, handlers),
    ctx: () => ctx,
  })
  const stopping = new AbortController()
  let port = config.port
  const change = { web: ports.web, threads: ports.threads }
  const outgoing = openOutgoing({ config, store, clock, entropy, log, port: () => port, change })
  const ctx: Context = {
    config,
    version: packageJson.version,
    instanceId: identity.instance_id,
    adminKeyHash: identity.admin_key_hash,
    baseUrl: () => config.publicUrl?.replace(/\/$/, '') ?? boundUrl(config.host, port),
    port: () => port,
    store,
    storage,
    blobs,
    catalog: feed.catalog,
    postingSearch,
    pages,
    chain,
    recover,
    clock,
    entropy,
    log,
    eventBell: openEventBell(store, stopping.signal),
    ...ofThisRun(entropy),
    vendor: ports.vendor ?? (await openVendor({ store, entropy })),
    ...(await openCounts({ store, clock, entropy })),
    backups,
    ...(await openCompliance({ store, config, web: outgoing.web, chain, isSanctioned: ports.isSanctioned })),
    stopping: stopping.signal,
    ...outgoing,
    ...(ports.firstParty ? { firstParty: ports.firstParty } : {}),
    ...flags,
    ...crons,
  }
  await finishEarlierRun(ctx)
  return {
    ctx,
    beginStop: () => stopping.abort(),
    bind: (bound) => {
      port = bound
    },
    close: () => closeContext(ctx, { feed, closeFlags: close }),
  }
}

/** Bytes of the secret under challenges to sign in. */
const SIGN_IN_KEY_BYTES = 32

function ofThisRun(entropy: Entropy): Pick<Context, 'inflight' | 'turns' | 'background' | 'signInKey'> {
  return { signInKey: entropy(SIGN_IN_KEY_BYTES), inflight: shortLived(), turns: createTurns(), background: new Set() }
}

function openPostings({ config, store, log }: Pick<Parts, 'config' | 'store' | 'log'>) {
  return openPostingSearch({
    store,
    path: join(config.dataDir, 'postings.db'),
    onFault: (error) => log.error({ source: 'postings', err: String(error) }, 'the list of requests is made anew'),
  })
}

type Followers = { readonly feed: { readonly stop: () => Promise<void> }; readonly closeFlags: () => void }

async function openCounts({ store, clock, entropy }: Pick<Context, 'store' | 'clock' | 'entropy'>) {
  return {
    tally: await openTally({ store, clock }),
    watch: openWatch({ store, clock, entropy }),
    metrics: openMetrics(store),
  }
}

/** What is counted in memory, together each second. */
async function saveCounts({ tally, watch }: Context): Promise<void> {
  await tally.save()
  await watch.save()
}

async function closeContext(ctx: Context, { feed, closeFlags }: Followers): Promise<void> {
  await ctx.crons.stop()
  await ctx.deliveries.stop()
  await saveCounts(ctx)
  await Promise.all(ctx.background)
  await feed.stop()
  closeFlags()
  ctx.metrics.close()
  await closeCatalog(ctx)
  await ctx.postingSearch.close()
  await ctx.compute.close()
  await ctx.store.close()
}

/** Fills a new store, and ends what a crash left open. */
async function finishEarlierRun(ctx: Context): Promise<void> {
  if (ctx.config.seed !== undefined) await seedStore(ctx, ctx.config.seed)
  await loadFirstList(ctx)
  const recovered = await recoverPayments(ctx, handlers)
  await runPayouts(ctx)
  ctx.log.info({ source: 'store', ...recovered, ...ctx.store.stats() }, 'store opened')
}

/** Where money is real nobody moves the clock, whatever the store remembers of a sandbox. */
async function openClock(store: Store, chain: ChainPort, machine: Clock): Promise<MovableClock> {
  const setting = isTestMoney(chain) ? await store.read(readClockSetting) : undefined
  return movableClock(machine, setting ?? UNMOVED)
}

async function listen({ ctx, bind, beginStop, close }: Opened, ticker: Ticker): Promise<Daemon> {
  const server = createEdge({ ctx, handlers })
  server.listen(ctx.config.port, ctx.config.host)
  await once(server, 'listening')
  bind((server.address() as AddressInfo).port)
  ctx.log.info({ source: 'http', url: ctx.baseUrl() }, 'listening')
  await ctx.deliveries.start(ticker)
  await startHouse(ctx)
  if (ctx.config.crons) ctx.crons.start(ticker)
  const stopSaving = ticker(() => inBackground(ctx, 'counts', () => saveCounts(ctx)))
  let stopping: Promise<void> | undefined
  const { cut } = ctx.storage
  const notes = cut ? [cutSentence(cut)] : []
  for (const note of notes) ctx.log.warn({ source: 'store', ...cut }, note)
  return {
    url: boundUrl(ctx.config.host, ctx.port()),
    ctx,
    notes,
    stop: () => {
      beginStop()
      stopSaving()
      stopping ??= drain(server).then(close)
      return stopping
    },
  }
}

/** Requests under way get their answers; streams and idle connections end, and what is left at the limit is cut. */
async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearTimeout(timer)
}

/** Makes the store of a stopped daemon open again; see `repairStore`. @throws StoreLocked while a daemon runs. */
export function repairData(dataDir: string): Promise<RepairReport> {
  return repairStore({
    dir: join(dataDir, STORE_FOLDER),
    collections: allCollections,
    newStoreId: randomUUID,
    // The sweep of each hour removes them too.
    isNeeded: (collection, row) => collection !== payments.name || row.state !== 'released',
  })
}

/** Replays the store of a stopped daemon in memory and changes nothing. @throws StoreDamaged, StoreMisuse */
export function verifyData(dataDir: string): Promise<VerifyReport> {
  return verifyStore({ dir: join(dataDir, STORE_FOLDER), collections: allCollections })
}

/**
 * Fills the store of an instance that has none yet from a backup, `GET /dashboard/api/admin/backup`, once it verifies.
 * @throws StoreDamaged, StoreMisuse
 */
export function restoreData(dataDir: string, tarFile: string): Promise<VerifyReport> {
  const to = join(dataDir, STORE_FOLDER)
  return withUnpacked(tarFile, (from) => restoreStore({ from, to, collections: allCollections }))
}

/**
 * Puts a backup in the place of what a stopped daemon has, once it verifies whole; until it has opened there, the
 * store before it is kept aside.
 * @throws AppError 400 on a file that is no backup or is damaged, StoreLocked while a daemon runs.
 */
export async function replaceData(dataDir: string, tarFile: string): Promise<VerifyReport> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  return withUnpacked(
    tarFile,
    async (from) => {
      const fresh = join(from, STAGED_FOLDER)
      const report = await checkedBackup(tarFile, { from, to: fresh })
      await replaceStore(dataDir, fresh, async () => (await openStopped(dataDir)).close())
      return report
    },
    dataDir,
  )
}

async function checkedBackup(tarFile: string, folders: { from: string; to: string }): Promise<VerifyReport> {
  const refused = (why: string, cause?: unknown) =>
    new AppError('invalid_request', `${tarFile} is no whole backup: ${why}.`, cause === undefined ? {} : { cause })
  const report = await restoreStore({ ...folders, collections: allCollections }).catch((error: unknown) => {
    const isDamaged = error instanceof StoreDamaged || error instanceof StoreMisuse
    throw isDamaged ? refused(error.message.replace(/\. Run .*$/, ''), error) : error
  })
  if (report.torn !== undefined) throw refused('its journal ends in the middle of a transaction')
  if (report.damagedBlobs.length > 0) throw refused(`${report.damagedBlobs.length} of its files are damaged`)
  return report
}

/** A backup of a stopped daemon, as `GET /dashboard/api/admin/backup` sends one. @throws StoreLocked while it runs. */
export async function* backupData(dataDir: string): AsyncGenerator<string | Uint8Array> {
  await undoHalfReplaced(dataDir)
  const store = await openStopped(dataDir)
  try {
    const { next } = await openBackups({ dataDir, backup: store.backup })
    yield* next('').chunks()
  } finally {
    await store.close()
  }
}

function openStopped(dataDir: string) {
  return openLowdbStore({
    dir: join(dataDir, STORE_FOLDER),
    collections: allCollections,
    durability: 'full',
    now: systemClock.wall,
    onFatal: (error) => {
      throw error
    },
  })
}

/** Removes all data of a stopped daemon. @throws StoreLocked while it runs. */
export const clearData: (dataDir: string) => Promise<void> = clearFolder
