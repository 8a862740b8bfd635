import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/core/error.ts'
import { makeFolder } from '../../../src/core/folder.ts'
import type { Entropy } from '../../../src/core/hex.ts'
import { settings } from '../../kernel/rows.ts'
import { drawAddress, openSandboxChain } from '../../ports/chain/sandbox/chain.ts'
import { openRecover } from '../../ports/chain/signature.ts'
import { systemClock } from '../../ports/clock.ts'
import { realDisk, writeFully } from '../../store/disk.ts'
import { BLOB_DIR, LOCK_DIR, MANIFEST_FILE } from '../../store/lowdb/files.ts'
import { LEVEL_FROM_BYTES } from '../../store/lowdb/first.ts'
import { takeLock } from '../../store/lowdb/lock.ts'
import { type LowdbStore, openLowdbStore } from '../../store/lowdb/open.ts'
import { type WholeWriter, writeWhole } from '../../store/lowdb/whole.ts'
import type { AnyCollection } from '../../store/port.ts'
import { auditBooks } from '../audit/audit.ts'
import { withStaged } from './archive.ts'
import { readState, type StateItem } from './state-in.ts'
import { faultAt } from './state-lines.ts'
import { type InstallationValues, type StateEnd, type StateHeader, SYMBOLS } from './state-out.ts'
import { diskFull, isNoSpace } from './storage.ts'

export type StateImport = {
  readonly dataDir: string
  readonly collections: readonly AnyCollection[]
  readonly chunks: AsyncIterable<Uint8Array>
  /** Whether the new store gets the installation identity that is in the file, and not a new identity. */
  readonly keep: boolean
  readonly entropy: Entropy
  /** Called with the number of rows read. */
  readonly watch?: (rows: number) => void
}

export type Imported = {
  readonly records: number
  readonly files: number
  /** Hash of the state. Every export of the same state has the same hash. */
  readonly sha256: string
  /** Whether signatures made for the file's installation stay valid here. */
  readonly keptInstallation: boolean
}

const WATCH_EVERY = 1_000
const STORE_ID_BYTES = 16

/**
 * Creates the store of a stopped daemon from an export. The new store is opened and audited before it replaces
 * anything. On an error nothing changes.
 * @throws AppError 400 with line and member, AppError 409 if the audit fails, StoreLocked while a daemon runs
 */
export async function importState(options: StateImport): Promise<Imported> {
  const { dataDir } = options
  const isNew = !existsSync(dataDir)
  makeFolder(dataDir)
  try {
    return await withStaged(dataDir, async (folder) => {
      const fresh = join(folder, STORE_FOLDER)
      const { header, end } = await unpackState(options, fresh)
      await compareBooks(options, folder)
      await replaceStore(dataDir, fresh, async () => (await openStopped(dataDir, options.collections)).close())
      return { records: header.rows, files: header.files, sha256: end.sha256, keptInstallation: options.keep }
    })
  } catch (error) {
    if (isNew) await rmdir(dataDir).catch(() => undefined) // it was not empty any more
    throw isNoSpace(error) ? diskFull(dataDir, error) : error
  }
}

type Unpacked = { readonly header: StateHeader; readonly end: StateEnd }

async function unpackState(options: StateImport, store: string): Promise<Unpacked> {
  const writer = await writeWhole(store, options.entropy(STORE_ID_BYTES).toString('hex'))
  const blobs = blobWriter(join(store, BLOB_DIR))
  try {
    const unpacked = await unpackItems(options, { writer, blobs })
    await blobs.close()
    await writer.end()
    return unpacked
  } catch (error) {
    await blobs.close()
    await writer.drop()
    throw error
  }
}

/** @throws AppError 400 if `part` is missing. Every complete file has this part. */
function there<T>(part: T | undefined): T {
  if (part === undefined) throw faultAt(1, 'the file is empty')
  return part
}

type Places = { readonly writer: WholeWriter; readonly blobs: ReturnType<typeof blobWriter> }

async function unpackItems(options: StateImport, { writer, blobs }: Places): Promise<Unpacked> {
  const { chunks, collections, watch } = options
  let read: { header: StateHeader; values: InstallationValues } | undefined
  let end: StateEnd | undefined
  let count = 0
  for await (const item of readState(chunks, collections)) {
    if (item.kind === 'header') {
      read = { header: item.header, values: valuesOf(item.header, options) }
      await addSettings(writer, read.values)
    } else if (item.kind === 'row') {
      count += 1
      if (count % WATCH_EVERY === 0) watch?.(count)
      await addRow(writer, item, read?.values)
    } else if (item.kind === 'part') await blobs.add(item)
    else end = item.end
  }
  return { header: there(read).header, end: there(end) }
}

/** The file's installation values, or new ones. New values make signatures for other installations invalid. */
function valuesOf(header: StateHeader, { keep, entropy }: Pick<StateImport, 'keep' | 'entropy'>): InstallationValues {
  if (!keep) return { asset: drawAddress(entropy), pay_to: drawAddress(entropy), settings: {} }
  if (header.installation) return header.installation
  throw faultAt(
    1,
    'is null: --replace needs an export with installation values; without --replace, new values are created',
    'installation',
  )
}

async function addSettings(writer: WholeWriter, values: InstallationValues): Promise<void> {
  for (const [id, value] of Object.entries(values.settings)) await writer.add(settings.name, { id, version: 1, value })
}

async function addRow(
  writer: WholeWriter,
  { row: { collection, json } }: StateItem & { kind: 'row' },
  values: InstallationValues | undefined,
): Promise<void> {
  const changed = (collection.addresses ?? []).flatMap((member) => {
    const value = json[member]
    if (value === SYMBOLS.asset) return [[member, values?.asset]] as const
    return value === SYMBOLS.pay_to ? ([[member, values?.pay_to]] as const) : []
  })
  await writer.add(collection.name, changed.length === 0 ? json : { ...json, ...Object.fromEntries(changed) })
}

/** Writes blobs in the order of the file. Each is durable before the next one begins. */
function blobWriter(folder: string) {
  let open: { readonly name: string; readonly file: Awaited<ReturnType<typeof realDisk.open>> } | undefined
  async function close(): Promise<void> {
    const done = open
    open = undefined
    if (!done) return
    await done.file.datasync()
    await done.file.close()
  }
  return {
    async add({ part, bytes }: StateItem & { kind: 'part' }): Promise<void> {
      if (open?.name !== part.file) {
        await close()
        open = { name: part.file, file: await realDisk.open(`${folder}/${part.file}`, 'create') }
      }
      await writeFully(open.file, bytes, part.at)
    },
    async close(): Promise<void> {
      await close()
      await realDisk.syncDir(folder)
    },
  }
}

async function compareBooks({ collections, entropy }: StateImport, folder: string): Promise<void> {
  const store = await openStopped(folder, collections)
  try {
    const chain = await openSandboxChain({ store, recover: await openRecover(), entropy, wall: systemClock.wall })
    const { ok, checks } = await auditBooks({ store, chain, clock: systemClock })
    if (ok) return
    const failed = checks.filter((check) => !check.ok).map(({ name }) => name)
    throw new AppError(
      'conflict',
      `The ledger in the file fails its audit (${failed.join(', ')}). Nothing was changed.`,
    )
  } finally {
    await store.close()
  }
}

/*
 * Replaces the store so that a crash leaves the old store or the new one. The lock folder is never moved, so no other
 * process can open the store. A manifest marks a complete store, so it is removed first and written last.
 */

/** Folder of the store inside a data folder. */
export const STORE_FOLDER = 'store'
/** Opens the store of a stopped daemon. @throws StoreLocked while the daemon runs. */
export function openStopped(dataDir: string, collections: readonly AnyCollection[]): Promise<LowdbStore> {
  return openLowdbStore({
    dir: join(dataDir, STORE_FOLDER),
    collections,
    durability: 'full',
    levelFrom: LEVEL_FROM_BYTES,
    now: systemClock.wall,
    onFatal: (error) => {
      throw error
    },
  })
}

/** Folder that keeps the old store's files until the new store has opened. */
const ASIDE_FOLDER = 'replaced'
/** Marker file, created once all old files are moved. While it exists, the store folder has only new files. */
const ALL_ASIDE = 'all-aside'
/** Derived tables, which are rebuilt from the store. */
const DERIVED = /^(?:catalog|postings)\.db/

type Folders = { readonly dataDir: string; readonly store: string; readonly aside: string }

function foldersOf(dataDir: string): Folders {
  return { dataDir, store: join(dataDir, STORE_FOLDER), aside: join(dataDir, ASIDE_FOLDER) }
}

/**
 * Replaces a stopped daemon's store with a verified one. If the new store does not open, restores the old one.
 * @throws StoreLocked while a daemon runs; the error that `opens` threw
 */
export async function replaceStore<T>(dataDir: string, fresh: string, opens: () => Promise<T>): Promise<T> {
  const folders = foldersOf(dataDir)
  makeFolder(folders.store)
  await underLock(folders, async () => {
    await undoHalf(folders)
    await rm(folders.aside, { recursive: true, force: true })
    await mkdir(folders.aside, { mode: 0o700 })
    await moveAll(folders.store, folders.aside, 'manifest first')
    await writeFile(join(folders.aside, ALL_ASIDE), '')
    await realDisk.syncDir(folders.aside)
    await dropDerived(folders)
    await moveAll(fresh, folders.store, 'manifest last')
  })
  const opened = await opens().catch(async (error: unknown) => {
    await underLock(folders, () => putBack(folders))
    throw error
  })
  await rm(folders.aside, { recursive: true })
  return opened
}

/** Undoes a replacement that a crash cut short; called before a store is opened. */
export async function undoHalfReplaced(dataDir: string): Promise<void> {
  const folders = foldersOf(dataDir)
  if (existsSync(folders.aside)) await underLock(folders, () => undoHalf(folders))
}

/** Removes the old store's files; called after the new one has opened. */
export async function dropReplaced(dataDir: string): Promise<void> {
  await rm(foldersOf(dataDir).aside, { recursive: true, force: true })
}

/** Removes all data of a stopped daemon except its lock. @throws StoreLocked while the daemon runs. */
export async function clearFolder(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  const folders = foldersOf(dataDir)
  await underLock(folders, async () => {
    const inside = (await contentsOf(folders.store)).map((name) => join(folders.store, name))
    const beside = (await readdir(dataDir)).filter((name) => name !== STORE_FOLDER).map((name) => join(dataDir, name))
    for (const path of [...inside, ...beside]) await rm(path, { recursive: true, force: true })
  })
}

async function undoHalf(folders: Folders): Promise<void> {
  if (existsSync(folders.aside) && !existsSync(join(folders.store, MANIFEST_FILE))) await putBack(folders)
}

async function putBack(folders: Folders): Promise<void> {
  const { store, aside } = folders
  const marker = join(aside, ALL_ASIDE)
  if (existsSync(marker)) {
    for (const name of await contentsOf(store)) await rm(join(store, name), { recursive: true })
    await rm(marker)
    await realDisk.syncDir(aside)
  }
  await dropDerived(folders)
  await moveAll(aside, store, 'manifest last')
  await rm(aside, { recursive: true })
}

async function underLock({ store }: Folders, act: () => Promise<void>): Promise<void> {
  const lock = takeLock(store)
  try {
    await act()
  } finally {
    lock.release()
  }
}

async function dropDerived({ dataDir }: Folders): Promise<void> {
  for (const name of await readdir(dataDir)) if (DERIVED.test(name)) await rm(join(dataDir, name))
}

async function moveAll(from: string, to: string, order: 'manifest first' | 'manifest last'): Promise<void> {
  const names = (await contentsOf(from)).filter((name) => name !== MANIFEST_FILE)
  const manifest = existsSync(join(from, MANIFEST_FILE)) ? [MANIFEST_FILE] : []
  const inOrder = order === 'manifest first' ? [...manifest, ...names] : [...names, ...manifest]
  for (const name of inOrder) {
    await rename(join(from, name), join(to, name))
    // Sync after each rename, so that a crash cannot keep a later rename and lose an earlier one.
    await Promise.all([realDisk.syncDir(from), realDisk.syncDir(to)])
  }
}

async function contentsOf(store: string): Promise<string[]> {
  return (await readdir(store)).filter((name) => name !== LOCK_DIR)
}
