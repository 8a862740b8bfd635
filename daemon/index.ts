import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { AppError } from '../src/core/error.ts'
import { makeFolder } from '../src/core/folder.ts'
import type { Entropy } from '../src/core/hex.ts'
import type { Config, History, HistoryOutcome, RepairReport, ReportStart } from '../src/model/start.ts'
import { allCollections, handlers, openResources, saveCounts } from './app.ts'
import { scheduler } from './crons/scheduler.ts'
import { storedClock } from './crons/timeline.ts'
import { alarms } from './features/attention/alarms.ts'
import { noteBackup, openBackups, withUnpacked } from './features/backup/archive.ts'
import { type CopiedStore, copyStore, type StoreMove } from './features/backup/copy-store.ts'
import {
  clearFolder,
  dropReplaced,
  type Imported,
  importState,
  openStopped,
  replaceStore,
  STORE_FOLDER,
  type StateImport,
  undoHalfReplaced,
} from './features/backup/import-state.ts'
import { openStore } from './features/backup/open-store.ts'
import { type Exported, type ExportWanted, writeState } from './features/backup/state-out.ts'
import { cutSentence, diskFull, storage, storageOf } from './features/backup/storage.ts'
import { recoverSettlements } from './features/facilitator/flights.ts'
import { startFirstParty } from './features/jobs/first-party.ts'
import { followEngines, syncFirstParty } from './features/operator/first-party-listings.ts'
import { openSwitches } from './features/operator/follow-switches.ts'
import { planSeed, type SeedName, seedFound, seedNamed, seedStore } from './features/operator/seed.ts'
import { catchUp } from './features/payments/catch-up.ts'
import { payments } from './features/payments/rows.ts'
import { recoverPayments } from './features/payments/settle.ts'
import { runPayouts } from './features/payouts/payouts.ts'
import { payeeFault } from './features/payouts/splitter-distribute.ts'
import { loadFirstList } from './features/sanctions/open.ts'
import { scheduleForgotten } from './features/webhooks/webhook-probes.ts'
import { deliveryWorker } from './features/webhooks/worker.ts'
import { liveHistory } from './history.ts'
import { type TakenPort, takePort } from './http/port.ts'
import { createEdge } from './http/server.ts'
import { boundUrl, ownUrl } from './kernel/config.ts'
import { type Context, closeResources, inBackground } from './kernel/context.ts'
import { frontSecretOf, hashSecret, installation, openIdentity } from './kernel/identity.ts'
import { keyedMutex } from './kernel/keyed-mutex.ts'
import { type OpenedChain, openChain } from './open-chain.ts'
import type { Ports } from './outside.ts'
import { type ChainPort, isTestMoney } from './ports/chain/chain.ts'
import { markRestored } from './ports/chain/evm/start/rows.ts'
import { openRecover, type Recover } from './ports/chain/signature.ts'
import {
  type Clock,
  type MovableClock,
  movableClock,
  systemClock,
  type Ticker,
  tickerOf,
  UNMOVED,
} from './ports/clock.ts'
import { systemEntropy } from './ports/entropy.ts'
import { type Log, openLog } from './ports/log.ts'
import { StoreDamaged, StoreMisuse } from './store/errors.ts'
import { restoreStore } from './store/lowdb/backup.ts'
import { takeLock, takeNamedLock } from './store/lowdb/lock.ts'
import { repairStore } from './store/lowdb/repair.ts'
import { type VerifyReport, verifyStore } from './store/lowdb/verify.ts'
import type { Store } from './store/port.ts'
import type { OpenedStore } from './store/postgres/opened.ts'

export type Daemon = {
  /** Local address; the public one is `ctx.baseUrl()`. */
  readonly url: string
  /** Public name of the installation, as in `/health`. */
  readonly instanceId: string
  readonly ctx: Context
  readonly seed: SeedName
  /** Notes about the start for the operator, one sentence each. */
  readonly notes: readonly string[]
  /** Refuses new requests, waits for those in progress, and closes the store. Can be called repeatedly. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a marketplace: takes the port, recovers the store, finishes interrupted work, then serves. Until then,
 * requests get 503.
 * @throws StoreLocked when another daemon has the folder, StoreDamaged with the repair command, EADDRINUSE
 */
export async function createDaemon(config: Config, ports: Ports = {}): Promise<Daemon> {
  const payees = config.payees && payeeFault(config.payees)
  if (payees) throw new AppError('invalid_request', `Invalid fee payees: ${payees}.`)
  // Throws for an unknown seed before a store is created. Otherwise the next start would find an existing store.
  if (config.seed !== undefined) seedNamed(config.seed)
  makeFolder(config.dataDir)
  ports.onStep?.('port')
  const taken = await takePort(config, ports.entropy ?? systemEntropy(), (ports.clock ?? systemClock).wall)
  try {
    await ports.prepare?.(boundUrl(config, taken.port))
    return await openBehind(taken, config, ports)
  } catch (error) {
    await taken.close()
    throw error
  }
}

async function openBehind(taken: TakenPort, config: Config, ports: Ports): Promise<Daemon> {
  const step: ReportStart = (name, detail) => {
    taken.refuse(name === 'front' ? `This daemon is a front of ${detail}, whose address it does not know.` : undefined)
    ports.onStep?.(name, detail)
  }
  const log = openLog({ level: config.logLevel, ...(ports.logTo ? { destination: ports.logTo } : {}) })
  const machine = ports.clock ?? systemClock
  const stopping = new AbortController()
  step('store')
  await undoHalfReplaced(config.dataDir)
  const opened = await openStore({
    config,
    disk: ports.disk,
    onFatal: ports.onFatal,
    log,
    machine,
    collections: allCollections,
    port: taken.port,
    stopping: stopping.signal,
    onHolder(holder) {
      taken.follow(holder)
      if (holder) step('front', holder.label)
      else step('store')
    },
    onLoaded: (percent) => step('store', `${percent} %`),
  })
  const store = ports.store?.(opened) ?? opened
  let chain: OpenedChain | undefined
  try {
    if (await storageOf(opened).isFull()) throw diskFull(config.dataDir)
    await dropReplaced(config.dataDir)
    const entropy = ports.entropy ?? systemEntropy()
    const recover = await openRecover()
    step('chain')
    chain = ports.chain
      ? { chain: await ports.chain({ store }), notes: [], close: async () => undefined }
      : await openChain({ config, store, recover, entropy, wall: machine.wall, log, takeNamedLock })
    step('market')
    const built = await buildContext({
      config,
      ports,
      store,
      opened,
      log,
      machine,
      chain,
      recover,
      entropy,
      taken,
      stopping,
      step,
    })
    step('serve')
    return await serve(built, ports.ticker ?? tickerOf(config.tickMs))
  } catch (error) {
    await chain?.close()
    await store.close()
    throw error
  }
}

type AppParts = {
  readonly config: Config
  readonly ports: Ports
  readonly store: Store
  readonly opened: OpenedStore
  readonly log: Log
  /** The machine's clock, from which the movable clock derives. */
  readonly machine: Clock
  readonly chain: OpenedChain
  readonly recover: Recover
  readonly entropy: Entropy
  readonly taken: TakenPort
  readonly stopping: AbortController
  readonly step: ReportStart
}

type Opened = Awaited<ReturnType<typeof buildContext>>

async function buildContext({ chain: settled, ...parts }: AppParts) {
  const { config, ports, store, opened, log, machine, recover, entropy, taken, stopping, step } = parts
  const { chain } = settled
  const clock = ports.businessClock ?? (await openClock(store, chain, machine))
  if (config.seedOfNew !== undefined) await planSeed({ store, entropy }, config.seedOfNew)
  const identity = await openIdentity({ store, entropy, dataDir: config.dataDir })
  const { switches, close: unfollow } = await openSwitches({ store, entropy, config, clock })
  const { port } = taken
  const ctx: Context = {
    config,
    store,
    blobs: opened.blobs,
    chain,
    recover,
    clock,
    entropy,
    log,
    baseUrl: () => ownUrl(config, port),
    stopping: stopping.signal,
    mutex: keyedMutex(),
    switches,
    resources: { closing: [] },
  }
  await openResources(ctx, {
    ports,
    installation: {
      version: packageJson.version,
      instanceId: identity.instance_id,
      adminKeyHash: identity.admin_key_hash,
      sealingSecret: hashSecret(`seal ${identity.adminKey}`),
      frontSecret: frontSecretOf(identity.adminKey),
      port: () => port,
    },
    storage: storageOf(opened),
    backup: opened.backup,
    clock,
  })
  await finishEarlierRun(ctx, step)
  return {
    ctx,
    taken,
    notes: settled.notes,
    beginStop: () => stopping.abort(),
    close: async () => {
      await closeResources(ctx)
      unfollow()
      await settled.close()
      await store.close()
    },
  }
}

/** Seeds a new store and finishes interrupted work. */
async function finishEarlierRun(ctx: Context, step: ReportStart): Promise<void> {
  step('seed')
  await seedStore(ctx, ctx.config.seed)
  await syncFirstParty(ctx)
  await loadFirstList(ctx)
  step('recovery')
  const recovered = await recoverPayments(ctx)
  await catchUp(ctx)
  await runPayouts(ctx)
  await recoverSettlements(ctx)
  await scheduleForgotten(ctx)
  ctx.log.info({ source: 'store', ...recovered, ...ctx.store.stats() }, 'store opened')
}

/** Opens the business clock. With real money it is never moved, whatever the store says. */
async function openClock(store: Store, chain: ChainPort, machine: Clock): Promise<MovableClock> {
  return isTestMoney(chain) ? storedClock(store, machine) : movableClock(machine, UNMOVED)
}

async function serve({ ctx, taken, beginStop, close, ...found }: Opened, ticker: Ticker): Promise<Daemon> {
  createEdge({ ctx, handlers }, taken)
  ctx.log.info({ source: 'http', url: ctx.baseUrl() }, 'listening')
  await deliveryWorker.of(ctx).start(ticker)
  alarms.of(ctx).start(ticker)
  followEngines(ctx)
  await startFirstParty(ctx)
  if (ctx.config.crons) scheduler.of(ctx).start(ticker)
  const stopSaving = ticker(() => inBackground(ctx, 'counts', () => saveCounts(ctx)))
  let stopping: Promise<void> | undefined
  const { cut } = storage.of(ctx)
  if (cut) ctx.log.warn({ source: 'store', ...cut }, cutSentence(cut))
  const database = await storage.of(ctx).describe?.()
  const notes = [...(cut ? [cutSentence(cut)] : []), ...(database ? [database] : []), ...found.notes]
  return {
    url: boundUrl(ctx.config, taken.port),
    instanceId: installation.of(ctx).instanceId,
    seed: await seedFound(ctx),
    ctx,
    notes,
    stop: () => {
      beginStop()
      stopSaving()
      stopping ??= taken.close().then(close)
      return stopping
    },
  }
}

/** Repairs the store of a stopped daemon; see `repairStore`. @throws StoreLocked while a daemon runs. */
export function repairData(dataDir: string): Promise<RepairReport> {
  return repairStore({
    dir: join(dataDir, STORE_FOLDER),
    collections: allCollections,
    newStoreId: randomUUID,
    // A repair may drop released payments, because the hourly sweep would remove them too.
    isNeeded: (collection, row) => collection !== payments.name || row.state !== 'released',
  })
}

/** Replays the store of a stopped daemon in memory without changes. @throws StoreDamaged, StoreMisuse */
export function verifyData(dataDir: string): Promise<VerifyReport> {
  return verifyStore({ dir: join(dataDir, STORE_FOLDER), collections: allCollections })
}

/** Removes files without a record. @returns the number removed. @throws StoreLocked while a daemon runs. */
export async function tidyData(dataDir: string): Promise<number> {
  // First, because an open store may hold the rows.
  const { unnamedBlobs, seq } = await verifyData(dataDir)
  const store = await openStopped(dataDir, allCollections)
  try {
    if (store.stats().seq !== seq) return 0
    const unnamed = new Set(unnamedBlobs)
    const isReferenced = async (sha256: string) => !unnamed.has(sha256)
    return (await store.blobs.sweep({ isReferenced, olderThanMs: Number.POSITIVE_INFINITY })).length
  } finally {
    await store.close()
  }
}

/**
 * Verifies a backup and replaces a stopped daemon's store with it. The old store is kept until the new one has opened.
 * @throws AppError 400 on an invalid backup, StoreLocked while a daemon runs.
 */
export async function replaceData(dataDir: string, tarFile: string) {
  makeFolder(dataDir)
  return withUnpacked(
    tarFile,
    async (from) => {
      const fresh = join(from, 'staged')
      const report = await checkedBackup(tarFile, { from, to: fresh })
      const opens = () => openStopped(dataDir, allCollections).then(markRestored)
      return { ...report, home: await replaceStore(dataDir, fresh, opens) }
    },
    dataDir,
  )
}

async function checkedBackup(tarFile: string, folders: { from: string; to: string }): Promise<VerifyReport> {
  const refused = (why: string, cause?: unknown) =>
    new AppError('invalid_request', `${tarFile} is a broken backup: ${why}.`, cause === undefined ? {} : { cause })
  const report = await restoreStore({ ...folders, collections: allCollections }).catch((error: unknown) => {
    const isDamaged = error instanceof StoreDamaged || error instanceof StoreMisuse
    throw isDamaged ? refused(error.message.replace(/\. Run .*$/, ''), error) : error
  })
  if (report.torn !== undefined) throw refused('its journal ends inside a transaction')
  if (report.damagedBlobs.length > 0) throw refused(`${report.damagedBlobs.length} of its files are damaged`)
  return report
}

/** A backup of a stopped daemon, like that of `GET /dashboard/api/admin/backup`. @throws StoreLocked while it runs. */
export async function* backupData(dataDir: string): AsyncGenerator<string | Uint8Array> {
  await undoHalfReplaced(dataDir)
  const store = await openStopped(dataDir, allCollections)
  try {
    const note = async () => noteBackup({ store, entropy: systemEntropy() }, (await storedClock(store)).now())
    yield* (await openBackups({ dataDir, backup: store.backup, note })).next('').chunks()
  } finally {
    await store.close()
  }
}

/** Exports a marketplace; see `writeState`. @throws StoreLocked while its daemon runs. */
export async function exportData(dataDir: string, wanted: ExportWanted): Promise<Exported> {
  const { tarFile, lines } = wanted
  const write = (dir: string) => writeState({ dir, collections: allCollections }, lines, systemClock.now())
  if (tarFile !== undefined) return withUnpacked(tarFile, write)
  await undoHalfReplaced(dataDir)
  const dir = join(dataDir, STORE_FOLDER)
  const lock = takeLock(dir)
  try {
    return await write(dir)
  } finally {
    lock.release()
  }
}

type ImportWanted = Pick<StateImport, 'chunks' | 'keep'> & Partial<Pick<StateImport, 'watch'>>

/** Creates a store from an export; see `importState`. */
export function importData(dataDir: string, wanted: ImportWanted): Promise<Imported> {
  return importState({ ...wanted, dataDir, collections: allCollections, entropy: systemEntropy() })
}

/** Moves a stopped daemon's store between files and a database; see the feature. */
export const moveStore = (dataDir: string, wanted: StoreMove): Promise<CopiedStore> =>
  copyStore({ ...wanted, dataDir, collections: allCollections })

/** Writes a history into the store of a marketplace that was never used; see `liveHistory`. */
export function writeHistory(history: History): Promise<HistoryOutcome> {
  return liveHistory({ create: createDaemon, collections: allCollections }, history)
}

/** Removes all data of a stopped daemon. @throws StoreLocked while the daemon runs. */
export const clearData: (dataDir: string) => Promise<void> = clearFolder
