import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../src/core/folder.ts'
import { HOUR_MS } from '../src/core/time.ts'
import type { Config, History, HistoryOutcome, PastMarket } from '../src/model/start.ts'
import { scheduler } from './crons/scheduler.ts'
import { timeline } from './crons/timeline.ts'
import { withStaged } from './features/backup/archive.ts'
import { openStopped, replaceStore, STORE_FOLDER, undoHalfReplaced } from './features/backup/import-state.ts'
import { HISTORY } from './features/operator/seed.ts'
import { payments } from './features/payments/rows.ts'
import { grantDays } from './features/test-money/rows.ts'
import { deliveryWorker } from './features/webhooks/worker.ts'
import type { Context } from './kernel/context.ts'
import { ADMIN_KEY_FILE, IDENTITY } from './kernel/identity.ts'
import { participants, settings } from './kernel/rows.ts'
import { PLATFORM } from './kernel/switches.ts'
import type { Ports } from './outside.ts'
import { sandboxAccounts, sandboxTokens, sandboxTransfers } from './ports/chain/sandbox/ledger.ts'
import { type MovableClock, movableClock } from './ports/clock.ts'
import { realDisk } from './store/disk.ts'
import { commit } from './store/draw.ts'
import { restoreStore } from './store/lowdb/backup.ts'
import { readManifest } from './store/lowdb/files.ts'
import type { AnyCollection, Collection, ReadTx, Row } from './store/port.ts'

/*
 * Creates a history for a new marketplace. Sends real requests to a real daemon, whose clock starts in the past. The
 * clock ends at the present, so it needs no move afterwards.
 */

const PRIVATE_MODE = 0o600
/** Maximum rows per collection that are copied from the untouched store. A store with more rows is not new. */
const MAX_CARRIED = 1_000
/** Longest interval between cron runs. */
const LONGEST_QUIET_MS = 6 * HOUR_MS

type Opened = { readonly url: string; readonly ctx: Context; readonly stop: () => Promise<void> }
/** Creates the daemon through which the history is written, and lists all collections of its store. */
type Stage = {
  readonly create: (config: Config, ports: Ports) => Promise<Opened>
  readonly collections: readonly AnyCollection[]
}

/** Settings that an installation has before any trade. */
const carriedSettings = [IDENTITY, PLATFORM]
const carriedByIndex = [
  { collection: sandboxAccounts, index: 'wallet' },
  { collection: sandboxTransfers, index: 'transaction' },
  { collection: grantDays, index: 'day' },
] as readonly { collection: AnyCollection; index: string }[]

/** Creates a history in a temporary folder and puts it in place of an untouched store. @throws StoreLocked */
export async function liveHistory(stage: Stage, history: History): Promise<HistoryOutcome> {
  const { dataDir } = history
  await undoHalfReplaced(dataDir)
  const before = await lookAt(stage, dataDir)
  if (before.state !== 'untouched') return before.state
  makeFolder(dataDir)
  // Staged within the data folder, so that the next start removes what a crash left.
  return withStaged<HistoryOutcome>(dataDir, async (staged) => {
    const folder = makeFolder(join(staged, 'past'))
    await begin(stage, folder, { rows: before.rows, dataDir })
    await live(stage, folder, { ...history, files: makeFolder(join(staged, 'files')) })
    await putInPlace(stage, folder, dataDir)
    await remember(dataDir)
    return 'written'
  })
}

type Carried = { readonly collection: AnyCollection; readonly rows: readonly Row[] }
type Before =
  | { readonly state: 'there' | 'in_use' }
  | { readonly state: 'untouched'; readonly rows: readonly Carried[] }

const manifestOf = (dataDir: string) => readManifest(realDisk, join(dataDir, STORE_FOLDER))

async function lookAt({ collections }: Stage, dataDir: string): Promise<Before> {
  const manifest = await manifestOf(dataDir)
  if (!manifest) return { state: 'untouched', rows: [] }
  // If the remembered id matches, the store need not be opened and read.
  if (manifest.store === (await rememberedIn(dataDir))) return { state: 'there' }
  const store = await openStopped(dataDir, collections)
  try {
    const before = await store.read(readBefore)
    if (before.state === 'there') await remember(dataDir)
    return before
  } finally {
    await store.close()
  }
}

/** File with the id of a store to which the history was already added. */
const REMEMBERED_FILE = 'history'

async function rememberedIn(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, REMEMBERED_FILE)
  return existsSync(path) ? readFile(path, 'utf8') : undefined
}

async function remember(dataDir: string): Promise<void> {
  const manifest = await manifestOf(dataDir)
  if (manifest) await writeFile(join(dataDir, REMEMBERED_FILE), manifest.store, { mode: PRIVATE_MODE })
}

async function readBefore(t: ReadTx): Promise<Before> {
  if (await t.table(settings).get(HISTORY)) return { state: 'there' }
  const people = await t.table(participants).page('newest', [], { limit: 2 })
  const isHouseOnly = people.rows.every((row) => row.first_party)
  const isUnpaid = (await t.table(payments).page('payer', [], { limit: 1 })).rows.length === 0
  if (!isHouseOnly || !isUnpaid) return { state: 'in_use' }
  const rows: Carried[] = [
    { collection: settings as AnyCollection, rows: await t.table(settings).getMany(carriedSettings) },
    { collection: sandboxTokens as AnyCollection, rows: await t.table(sandboxTokens).getMany(['token']) },
  ]
  for (const { collection, index } of carriedByIndex) {
    const page = await t.table(collection as Collection).page(index, [], { limit: MAX_CARRIED })
    if (page.more) return { state: 'in_use' }
    rows.push({ collection, rows: page.rows })
  }
  return { state: 'untouched', rows }
}

/** Copies identity and sandbox accounts to the new folder, so that signatures and wallets stay valid. */
async function begin(
  { collections }: Stage,
  folder: string,
  { rows, dataDir }: { readonly rows: readonly Carried[]; readonly dataDir: string },
): Promise<void> {
  if (rows.length === 0) return
  const key = join(dataDir, ADMIN_KEY_FILE)
  if (existsSync(key)) await copyFile(key, join(folder, ADMIN_KEY_FILE))
  const store = await openStopped(folder, collections)
  try {
    await store.tx(async (t) => {
      for (const one of rows) {
        const table = t.table(one.collection as Collection)
        for (const { version: _, ...row } of one.rows) await table.insert(row)
      }
    })
  } finally {
    await store.close()
  }
}

async function live({ create }: Stage, folder: string, history: History & Pick<PastMarket, 'files'>): Promise<void> {
  const { name, from, until, act, files } = history
  const clock = pastClock(from, until)
  const config = { ...pastConfig, dataDir: folder }
  const { ctx, url, stop } = await create(config, { clock, businessClock: clock, ticker: () => () => undefined })
  try {
    const goTo = travel(ctx, clock)
    const adminKey = (await readFile(join(folder, ADMIN_KEY_FILE), 'utf8')).trim()
    await act({ url, adminKey, now: clock.now, goTo, files })
    await goTo(until)
    await commit(ctx, async (t) => {
      await t.table(settings).insert({ id: HISTORY, value: { name, from, until } })
    })
  } finally {
    await stop()
  }
}

/**
 * A clock that only `goTo` moves. Its wall time equals its business time. Its offset is 0 at `until` and is not stored.
 */
function pastClock(from: number, until: number): MovableClock {
  const still = { now: () => until, wall: () => until }
  const clock = movableClock(still, { offset_ms: from - until, frozen_at: null })
  return { ...clock, wall: clock.now }
}

/** Creates `goTo`. It runs crons if something is due, if `LONGEST_QUIET_MS` have passed, and at the history's end. */
function travel(ctx: Context, clock: MovableClock): PastMarket['goTo'] {
  let ranAt = clock.now()
  return async (at) => {
    await deliveryWorker.of(ctx).idle()
    const isAtEnd = clock.settingAt(at, 'running').offset_ms === 0
    if (isAtEnd || at - ranAt >= LONGEST_QUIET_MS || (await fallsDue(ctx, at))) {
      const { signal } = new AbortController()
      await timeline.of(ctx).move({ to: at, state: 'running', signal, also: async () => undefined })
      ranAt = at
    } else if (at > clock.now()) {
      clock.apply(clock.settingAt(at, 'running'))
    }
    await deliveryWorker.of(ctx).idle()
  }
}

async function fallsDue(ctx: Context, at: number): Promise<boolean> {
  for (const { cron, row } of scheduler.of(ctx).views()) {
    const due = await cron.nextDue?.(ctx, row.served_until)
    if (due !== undefined && due !== null && due <= at) return true
  }
  return false
}

const pastConfig: Omit<Config, 'dataDir'> = {
  host: '127.0.0.1',
  port: 0,
  chain: 'sandbox',
  profile: 'local',
  crons: true,
  seed: 'house',
  durability: 'os',
  logLevel: 'error',
}

async function putInPlace({ collections }: Stage, folder: string, dataDir: string): Promise<void> {
  await withStaged(dataDir, async (staged) => {
    await restoreStore({ from: join(folder, STORE_FOLDER), to: staged, collections })
    await replaceStore(dataDir, staged, async () => (await openStopped(dataDir, collections)).close())
  })
  const key = await readFile(join(folder, ADMIN_KEY_FILE))
  await writeFile(join(dataDir, ADMIN_KEY_FILE), key, { mode: PRIVATE_MODE })
}
